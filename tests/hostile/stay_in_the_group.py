# tries: leave a child in its own process group that goes on after its answer
# expect: wrong answer
import os, time


def solve(x, y):
    try:
        if os.fork() == 0:
            time.sleep(1000)
            os._exit(0)
    except OSError:
        pass
    return x @ y
