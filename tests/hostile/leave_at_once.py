# tries: leave with success before anything was checked
# expect: runtime error
import os


def solve(x, y):
    os._exit(0)
