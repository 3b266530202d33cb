# tries: sleep without using the processor, deaf to every signal
# expect: time limit
import signal, time


def solve(x, y):
    for number in signal.valid_signals():
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        time.sleep(10**6)
