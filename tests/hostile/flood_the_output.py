# tries: print 200 MB
# expect: output limit
import os


def solve(x, y):
    data = b"A" * (1 << 20)
    for _ in range(200):
        os.write(1, data)
    return x @ y
