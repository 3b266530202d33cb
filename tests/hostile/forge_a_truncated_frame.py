# tries: half a frame, and the end
# expect: runtime error
import os, struct


def solve(x, y):
    os.write(4, struct.pack("<4sIQ", b"JDG1", 30, 100) + b'{"type": "obs')
    os._exit(0)
