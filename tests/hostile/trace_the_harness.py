# tries: trace the harness's own functions and change their variables on the way out
# expect: wrong answer, runtime error
import sys


def tracer(frame, event, argument):
    if frame.f_globals.get("__name__", "").startswith("judge"):
        for name in ("observation", "failure", "gradients"):
            if name in frame.f_locals:
                frame.f_locals[name] = None
    return tracer


def solve(x, y):
    sys.settrace(tracer)
    sys.setprofile(tracer)
    frame = sys._getframe().f_back
    while frame is not None:
        frame.f_trace = tracer
        frame = frame.f_back
    return x @ y
