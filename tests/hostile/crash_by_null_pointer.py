# tries: read address 0
# expect: runtime error
import ctypes


def solve(x, y):
    return ctypes.string_at(0)
