# tries: raise its limits, its priority and its rights again
# expect: wrong answer
# needs: kernel
import ctypes, os, resource

KINDS = ["AS", "CPU", "FSIZE", "NOFILE", "CORE", "MEMLOCK", "MSGQUEUE"]
INFINITE = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


def solve(x, y):
    for name in KINDS:
        kind = getattr(resource, f"RLIMIT_{name}", 12)
        for way in (
            resource.setrlimit,
            lambda kind, both: resource.prlimit(0, kind, both),
            lambda kind, both: resource.prlimit(os.getppid(), kind, both),
        ):
            try:
                way(kind, INFINITE)
                print("LEAK", name)
            except (OSError, ValueError):
                pass
    for way in (
        lambda: os.nice(-1),
        lambda: os.setuid(os.getuid() + 1),
        lambda: os.setgroups([0]),
        lambda: os.setresuid(0, 0, 0),
        lambda: os.setgid(1),
    ):
        try:
            way()
            print("LEAK rights")
        except OSError:
            pass
    if ctypes.CDLL(None).capset(b"\x22\x05\x08\x20" + bytes(4), b"\xff" * 24) == 0:
        print("LEAK capabilities")
    return x @ y
