# tries: close every descriptor
# expect: runtime error
import os


def solve(x, y):
    os.closerange(0, 4096)
    return x @ y
