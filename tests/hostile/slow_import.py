# tries: never finish being imported
# expect: time limit
import time

time.sleep(10**6)


def solve(x, y):
    return x @ y
