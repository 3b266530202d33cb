# tries: an exception whose message takes forever
# expect: time limit
import time


class Slow(Exception):
    def __str__(self):
        time.sleep(10**6)


def solve(x, y):
    raise Slow
