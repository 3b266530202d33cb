# tries: start threads without end
# expect: runtime error, memory limit, time limit
import threading, time


def solve(x, y):
    while True:
        threading.Thread(target=time.sleep, args=(10**6,), daemon=True).start()
