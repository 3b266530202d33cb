# tries: connect to a server and to the judge's own abstract and named sockets
# expect: wrong answer
# needs: kernel
import socket, urllib.request


def solve(x, y):
    ways = [
        lambda: socket.create_connection(("127.0.0.1", @TCP_PORT@), 1),
        lambda: urllib.request.urlopen("http://127.0.0.1:@TCP_PORT@/", timeout=1),
        lambda: socket.getaddrinfo("localhost", 80),
        lambda: socket.socket(socket.AF_UNIX).connect("\0judge-hostile"),
        lambda: socket.create_server(("127.0.0.1", 0)),
    ]
    for number, way in enumerate(ways):
        try:
            way()
        except OSError:
            continue
        print("LEAK way", number)
    return x @ y
