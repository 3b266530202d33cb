# tries: call numbers that are newer than any table, negative or huge
# expect: runtime error, wrong answer
# needs: kernel
import ctypes


def solve(x, y):
    for number in [*range(450, 480), 511, 600, 1 << 29]:
        if ctypes.CDLL(None).syscall(number, 0, 0, 0, 0, 0, 0) >= 0:
            print("LEAK call", number, flush=True)
    ctypes.CDLL(None).syscall(-1, 0, 0, 0)
    return x @ y
