# tries: start as many threads as the machine has numbers for, each with a tiny stack (root is bound by memory alone)
# expect: wrong answer, time limit, memory limit, runtime error
import os, threading

threading.stack_size(32768)
started, stop = [], threading.Event()


def bomb():
    try:
        while len(started) < 5000:
            thread = threading.Thread(target=stop.wait)
            thread.start()
            started.append(thread)
    except RuntimeError:
        pass
    stop.set()
    for thread in started:
        thread.join()
    if len(started) == 5000:
        print("LEAK five thousand threads")


def solve(x, y):
    if os.getuid() and not started:
        bomb()
    return x @ y
