# tries: mount something over the interpreter's folder
# expect: runtime error
# needs: kernel
import ctypes, os


def solve(x, y):
    if ctypes.CDLL(None).mount(b"none", b"@USER_FOLDER@", b"tmpfs", 0, None) == 0:
        print("LEAK mounted", flush=True)
    return x @ y
