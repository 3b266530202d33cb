# tries: stop its own process, so that it neither runs nor ends
# expect: time limit
import os, signal


def solve(x, y):
    os.kill(os.getpid(), signal.SIGSTOP)
    return x @ y
