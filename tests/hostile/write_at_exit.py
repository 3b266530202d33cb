# tries: write more frames at exit, from finalizers and from __del__
# expect: wrong answer
import atexit, os, weakref


def write():
    for descriptor in range(1, 10):
        try:
            os.write(descriptor, b"JDG1 accepted")
        except OSError:
            pass


class Writer:
    def __del__(self):
        write()


atexit.register(write)
writer = Writer()
weakref.finalize(writer, write)


def solve(x, y):
    return x @ y
