# tries: the kernel's own machinery: keys, bpf, perf, userfaultfd; any that is not refused by an error ends it
# expect: runtime error, wrong answer
# turns: 6
# needs: kernel
import ctypes, os, platform

NUMBERS = {"x86_64": [248, 249, 250, 321, 298, 323], "aarch64": [217, 218, 219, 280, 241, 282]}[platform.machine()]


def solve(x, y):
    number = NUMBERS[@TURN@]
    if ctypes.CDLL(None).syscall(number, 0, 0, 0, 0, 0) >= 0:
        print("LEAK call", number, flush=True)
    return x @ y
