# tries: call the kernel by int 0x80, whose numbers mean other calls (x86 only)
# expect: runtime error, wrong answer
# needs: kernel
import ctypes, mmap, platform


def solve(x, y):
    if platform.machine() != "x86_64":
        return x @ y
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # getpid of the 32-bit table
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    got = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
    if got > 0:
        print("LEAK int 0x80", got, flush=True)
    return x @ y
