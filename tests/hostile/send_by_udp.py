# tries: send a datagram to this machine
# expect: runtime error
# needs: kernel
import socket


def solve(x, y):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"LEAK", ("127.0.0.1", @UDP_PORT@))
    print("LEAK sent")
    return x @ y
