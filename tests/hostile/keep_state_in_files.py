# tries: leave something for the next call and the next submission in files and caches, and find it again
# expect: wrong answer
# needs: kernel
import os, sys, sysconfig, tempfile

import torch

FOLDERS = [
    "/tmp", "/dev/shm", "/var/tmp", "/run", ".", "@USER_FOLDER@", os.path.expanduser("~"), tempfile.gettempdir(),
    sysconfig.get_paths()["purelib"], os.path.dirname(os.__file__), os.path.dirname(torch.__file__),
    os.environ.get("TORCHINDUCTOR_CACHE_DIR", "/tmp"), "/proc/self/fd", "/dev/mqueue",
]  # fmt: skip


def solve(x, y):
    for folder in FOLDERS:
        for name in ("judge-hostile-state", "__pycache__/judge-hostile-state.pyc", "judge-hostile.pth"):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                print("LEAK found", path)
            try:
                open(path, "a").close()
                print("LEAK left", path)
            except OSError:
                pass
    return x @ y
