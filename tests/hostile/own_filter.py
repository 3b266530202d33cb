# tries: install a filter of its own that allows everything or asks a listener, and another Landlock domain
# expect: wrong answer
# needs: kernel
import ctypes, platform, struct

SECCOMP = {"x86_64": 317, "aarch64": 277}[platform.machine()]


def solve(x, y):
    libc = ctypes.CDLL(None)
    code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
    for flags in (0, 1, 8):
        program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(code))
        if libc.syscall(SECCOMP, 1, flags, program) >= 0:
            print("LEAK filter")
    if libc.syscall(444, struct.pack("Q", 1), 8, 0) >= 0:
        print("LEAK landlock")
    return x @ y
