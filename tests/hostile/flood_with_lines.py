# tries: print a million lines to the error stream
# expect: output limit
import sys


def solve(x, y):
    for number in range(10**6):
        print(number, file=sys.stderr)
    return x @ y
