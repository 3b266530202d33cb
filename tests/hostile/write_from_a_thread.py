# tries: go on after the answer in a thread that writes frames and changes the result
# expect: wrong answer, runtime error
import os, threading, time


def later(result):
    time.sleep(0.001)
    for number in range(100):
        result.zero_()
        for descriptor in range(3, 8):
            try:
                os.write(descriptor, b"JDG1" + bytes(12))
            except OSError:
                pass
        time.sleep(0.001)


def solve(x, y):
    result = (x @ y).detach()
    threading.Thread(target=later, args=(result,), daemon=True).start()
    return result
