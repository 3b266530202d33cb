# tries: overflow the stack of the interpreter
# expect: runtime error, memory limit, time limit
import sys

sys.setrecursionlimit(10**9)


def solve(x, y):
    return [solve(x, y)]
