# tries: call the kernel by the numbers of the x32 table (x86 only)
# expect: runtime error, wrong answer
# needs: kernel
import ctypes, platform


def solve(x, y):
    if platform.machine() == "x86_64" and ctypes.CDLL(None).syscall(0x40000000 | 39) > 0:
        print("LEAK x32", flush=True)
    return x @ y
