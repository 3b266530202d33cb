# tries: read memory, maps, environment and descriptors of the judge, of the zygote and of process 1
# expect: wrong answer
# needs: kernel
import os


def solve(x, y):
    for pid in (os.getppid(), @JUDGE_PID@, 1):
        for name in ("mem", "maps", "smaps", "environ", "cmdline", "stack", "auxv", "pagemap", "fd", "task", "map_files"):
            path = f"/proc/{pid}/{name}"
            try:
                print("LEAK", path, len(os.listdir(path)) if os.path.isdir(path) else open(path, "rb").read(1))
            except (OSError, ValueError):
                pass
    return x @ y
