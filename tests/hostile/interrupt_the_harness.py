# tries: raise exceptions in the harness by a timer's signals, between and during its steps
# expect: runtime error, wrong answer
import signal


def burst(*_):
    raise SystemExit(0)


def solve(x, y):
    signal.signal(signal.SIGALRM, burst)
    signal.signal(signal.SIGPROF, burst)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    return x @ y
