# tries: send frames without end while the file is imported, each of them well formed
# expect: runtime error, output limit, time limit
import os, struct


def solve(x, y):
    return x @ y


frame = struct.pack("<4sIQ", b"JDG1", 2, 1 << 20) + b"{}" + bytes(1 << 20)
while True:
    view = memoryview(frame)
    while view:
        view = view[os.write(4, view) :]
