# tries: attach to its parent as a debugger
# expect: runtime error
# needs: kernel
import ctypes, os


def solve(x, y):
    if ctypes.CDLL(None).ptrace(0x4206, os.getppid(), 0, 0) == 0:
        print("LEAK attached", flush=True)
    return x @ y
