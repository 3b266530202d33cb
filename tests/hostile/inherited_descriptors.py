# tries: use descriptors that the judge left open
# expect: wrong answer
import os, stat


def solve(x, y):
    kinds = {}
    for descriptor in range(4096):
        try:
            kinds[descriptor] = os.fstat(descriptor).st_mode
        except OSError:
            pass
    for descriptor, mode in kinds.items():
        expected = stat.S_ISFIFO(mode) or (stat.S_ISCHR(mode) and descriptor == 0)
        if not expected or len(kinds) > 5:
            print("LEAK descriptor", descriptor, oct(mode))
    return x @ y
