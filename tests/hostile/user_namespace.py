# tries: be root in a user namespace of its own
# expect: runtime error
# needs: kernel
import ctypes


def solve(x, y):
    for flags in (0x10000000, 0x20000, 0x40000000):
        if ctypes.CDLL(None).unshare(flags) == 0:
            print("LEAK namespace", hex(flags), flush=True)
    return x @ y
