# tries: answer and crash in a thread a moment later
# expect: wrong answer, runtime error
import ctypes, threading, time


def later():
    time.sleep(0.005)
    ctypes.string_at(0)


def solve(x, y):
    threading.Thread(target=later, daemon=True).start()
    return x @ y
