# tries: let faulthandler write tracebacks into the answers from outside of Python
# expect: runtime error, wrong answer, output limit
import faulthandler, time


def solve(x, y):
    faulthandler.dump_traceback_later(0.002, repeat=True, file=4)
    time.sleep(0.02)
    return x @ y
