# tries: reach the reference through the links of /proc: its own root and folder, its parent's, the judge's, process 1's
# expect: wrong answer
# needs: kernel
import os

WAYS = ["/proc/self/root", "/proc/self/cwd", "/proc/thread-self/root", "/dev/fd/../root"]
WAYS += [f"/proc/{pid}/{link}" for pid in (os.getpid(), os.getppid(), @JUDGE_PID@, 1) for link in ("root", "cwd")]


def solve(x, y):
    for way in WAYS:
        try:
            print("LEAK", way, open(way + "@HIDDEN_FILE@").read(20))
        except OSError:
            pass
    for own in ("/proc/self", "/proc/thread-self", f"/proc/self/task/{os.getpid()}", "/proc"):
        for name in ("net/unix", "net/tcp", "net/route", "mountinfo"):
            try:
                print("LEAK", own, name, open(f"{own}/{name}").read(20))
            except OSError:
                pass
    return x @ y
