# tries: take the judge's open descriptors by pidfd_getfd, and signal it by its pidfd
# expect: runtime error, wrong answer
# needs: kernel
import ctypes, os

OPEN, GET, SEND = 434, 438, 424


def solve(x, y):
    libc = ctypes.CDLL(None)
    for pid in (os.getppid(), @JUDGE_PID@):
        pidfd = libc.syscall(OPEN, pid, 0)
        if pidfd >= 0:
            print("LEAK pidfd_open", flush=True)
    for pidfd in range(64):
        if libc.syscall(GET, pidfd, 0, 0) >= 0 or libc.syscall(SEND, pidfd, 0, 0, 0) == 0:
            print("LEAK pidfd", flush=True)
    return x @ y
