# tries: keep memory from being swapped out, which takes a right of root, and look what other rights are left
# expect: wrong answer
# needs: kernel
import ctypes


def solve(x, y):
    libc = ctypes.CDLL(None)
    memory = ctypes.create_string_buffer(1 << 16)
    for name in ("mlock", "mlockall"):
        arguments = (memory, 1 << 16) if name == "mlock" else (3,)
        if getattr(libc, name)(*arguments) == 0:
            print("LEAK", name)
    for line in open("/proc/self/status"):
        name, _, value = line.partition(":")
        if name in ("CapInh", "CapPrm", "CapEff", "CapAmb") and int(value, 16):
            print("LEAK", name, value.strip())
    return x @ y
