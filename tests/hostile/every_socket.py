# tries: open a socket of every family and type, and pairs that can send to a path
# expect: wrong answer
# needs: kernel
import socket


def solve(x, y):
    for family in range(64):
        for kind in (1, 2, 3, 4, 5, 10):
            for make in (socket.socket, socket.socketpair):
                if make is socket.socketpair and (family, kind) == (socket.AF_UNIX, socket.SOCK_STREAM):
                    continue
                try:
                    made = make(family, kind)
                except OSError:
                    continue
                print("LEAK", make.__name__, family, kind, made)
    return x @ y
