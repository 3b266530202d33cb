# tries: join the namespaces of its parent and of process 1
# expect: runtime error, wrong answer
# needs: kernel
import ctypes, os


def solve(x, y):
    for pid in (os.getppid(), 1):
        for name in ("mnt", "user", "net", "pid", "ipc"):
            try:
                descriptor = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY)
            except OSError:
                continue
            print("LEAK", name, flush=True)
            ctypes.CDLL(None).setns(descriptor, 0)
    ctypes.CDLL(None).setns(os.open("/proc/self/ns/mnt", os.O_RDONLY), 0)
    print("LEAK setns", flush=True)
    return x @ y
