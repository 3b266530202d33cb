# tries: signal its parent, the judge, groups and everybody, by every call that can
# expect: wrong answer
# needs: kernel
import ctypes, os, platform, signal

QUEUE, TGQUEUE, TKILL, TGKILL = {"x86_64": (129, 297, 200, 234), "aarch64": (138, 240, 130, 131)}[platform.machine()]
LIBC = ctypes.CDLL(None)


def solve(x, y):
    for pid in (os.getppid(), @JUDGE_PID@, 1):
        ways = [
            lambda: os.kill(pid, signal.SIGWINCH), lambda: os.kill(pid, 0), lambda: os.killpg(pid, 0),
            lambda: os.kill(-pid, 0), lambda: os.killpg(os.getpgid(pid), 0), lambda: os.kill(-1, 0),
            lambda: os.kill(0, 0), lambda: os.killpg(os.getpgid(0), 0), lambda: os.sched_setaffinity(pid, {0}),
            lambda: os.setpriority(os.PRIO_PROCESS, pid, 1), lambda: os.sched_setscheduler(pid, 0, os.sched_param(0)),
        ]  # fmt: skip
        for number, way in enumerate(ways):
            try:
                way()
            except OSError:
                continue
            print("LEAK way", number, pid)
        for number in (QUEUE, TGQUEUE, TKILL, TGKILL):
            if LIBC.syscall(number, pid, 0 if number in (QUEUE, TKILL) else pid, 0, 0) == 0:
                print("LEAK call", number, pid)
    return x @ y
