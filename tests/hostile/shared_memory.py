# tries: make memory that outlives or is shared: memfd, POSIX and System V shared memory, semaphores, message queues
# expect: wrong answer
# needs: kernel
import ctypes, os, platform
from multiprocessing import shared_memory

NUMBERS = {
    "x86_64": {"memfd_create": 319, "memfd_secret": 447, "shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240},
    "aarch64": {"memfd_create": 279, "memfd_secret": 447, "shmget": 194, "semget": 190, "msgget": 186, "mq_open": 180},
}[platform.machine()]
ARGUMENTS = {
    "memfd_create": (b"x", 0), "memfd_secret": (0,), "shmget": (0x4A55, 4096, 0o1600), "semget": (0x4A55, 1, 0o1600),
    "msgget": (0x4A55, 0o1600), "mq_open": (b"judge-hostile", 0o102, 0o600, None),
}  # fmt: skip


def solve(x, y):
    libc = ctypes.CDLL(None)
    for name, number in NUMBERS.items():
        if libc.syscall(number, *ARGUMENTS[name]) >= 0:
            print("LEAK", name)
    if libc.shm_open(b"/judge-hostile", os.O_CREAT | os.O_RDWR, 0o600) >= 0:
        print("LEAK shm_open")
    try:
        shared_memory.SharedMemory("judge-hostile", create=True, size=100)
        print("LEAK SharedMemory")
    except OSError:
        pass
    return x @ y
