# tries: change mode, owner, times, attributes and locks of the user's file, which Landlock doesn't cover
# expect: wrong answer
# needs: kernel
import os

FILE, FOLDER = "@USER_FILE@", "@USER_FOLDER@"


def by_descriptor():
    descriptor = os.open(FILE, os.O_PATH)
    os.chmod(f"/proc/self/fd/{descriptor}", 0o777)


WAYS = [
    lambda: os.chmod(FILE, 0o777), lambda: os.chmod(FOLDER, 0o777), lambda: os.chown(FILE, os.getuid(), os.getgid()),
    lambda: os.lchown(FILE, os.getuid(), os.getgid()), lambda: os.utime(FILE, (0, 0)),
    lambda: os.setxattr(FILE, "user.judge", b"1"), lambda: os.removexattr(FILE, "user.judge"), by_descriptor,
    lambda: os.chmod(FOLDER, 0o700),
]  # fmt: skip


def solve(x, y):
    for number, way in enumerate(WAYS):
        try:
            way()
        except OSError:
            continue
        print("LEAK way", number)
    return x @ y
