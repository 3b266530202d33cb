# tries: open the reference by its file handle, which knows no path (open_by_handle_at)
# expect: runtime error, wrong answer
# needs: kernel
import ctypes, os, platform, struct

NAME, OPEN = {"x86_64": (303, 304), "aarch64": (264, 265)}[platform.machine()]


def solve(x, y):
    libc = ctypes.CDLL(None)
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    libc.syscall(NAME, -100, b"@HIDDEN_FILE@", handle, ctypes.byref(mount), 0)
    descriptor = libc.syscall(OPEN, os.open("/", os.O_PATH), handle, os.O_RDONLY)
    if descriptor >= 0:
        print("LEAK", os.read(descriptor, 20), flush=True)
    return x @ y
