# tries: get round the filter by io_uring, whose requests no filter sees
# expect: runtime error
# needs: kernel
import ctypes


def solve(x, y):
    if ctypes.CDLL(None).syscall(425, 4, ctypes.create_string_buffer(120)) >= 0:
        print("LEAK io_uring", flush=True)
    return x @ y
