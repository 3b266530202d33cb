# tries: swap the harness's descriptors, so that commands, answers and output change places
# expect: runtime error, time limit
import os


def solve(x, y):
    os.dup2(1, 4)
    os.dup2(0, 3)
    return x @ y
