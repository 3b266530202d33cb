# tries: send to a socket's path from a pair of sockets, which needs neither socket() nor connect()
# expect: wrong answer
# needs: kernel
import socket


def solve(x, y):
    for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, socket.SOCK_STREAM):
        try:
            one, _ = socket.socketpair(socket.AF_UNIX, kind)
            one.setblocking(False)
            one.sendto(b"LEAK", "@UNIX_SOCKET@")
        except OSError:
            continue
        print("LEAK sent by", kind)
    return x @ y
