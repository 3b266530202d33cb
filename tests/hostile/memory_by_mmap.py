# tries: map 64 GiB without touching it, by mmap in every way
# expect: wrong answer
import ctypes, mmap


def solve(x, y):
    ways = [
        lambda: mmap.mmap(-1, 1 << 36),
        lambda: mmap.mmap(-1, 1 << 36, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000),
        lambda: mmap.mmap(-1, 1 << 36, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS),
        lambda: mmap.mmap(-1, 1 << 36, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000),
    ]
    for number, way in enumerate(ways):
        try:
            way()
        except (OSError, MemoryError):
            continue
        print("LEAK way", number)
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    if libc.malloc(ctypes.c_size_t(1 << 36)):
        print("LEAK malloc")
    return x @ y
