# tries: frames that announce more than they hold, or more than anybody would take
# expect: runtime error
# turns: 5
import os, struct

LENGTHS = [(1 << 31, 0), (2, 1 << 40), ((1 << 20) + 1, 2), (2, (1 << 64) - 1), (2, 1 << 30)]


def solve(x, y):
    header, body = LENGTHS[@TURN@]
    os.write(4, struct.pack("<4sIQ", b"JDG1", header, body) + b"{}")
    os._exit(0)
