# tries: write a gigabyte to the answers by hand
# expect: runtime error, output limit, time limit
import os


def solve(x, y):
    data = bytes(1 << 20)
    for _ in range(1024):
        os.write(4, data)
    os._exit(0)
