# tries: read the calls that are to come from the commands, and leave
# expect: runtime error
import os


def solve(x, y):
    for descriptor in range(3, 10):
        try:
            os.set_blocking(descriptor, False)
            os.read(descriptor, 1 << 20)
        except OSError:
            pass
    os._exit(0)
