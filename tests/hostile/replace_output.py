# tries: replace output, hooks and builtins by objects that fail, sleep or lie, and the end of the process
# expect: wrong answer, runtime error
import builtins, os, sys


class Evil:
    def __getattr__(self, name):
        raise SystemExit(0)


sys.stdout = sys.stderr = sys.stdin = sys.excepthook = sys.unraisablehook = Evil()
builtins.print = builtins.len = builtins.isinstance = builtins.BaseException = lambda *_: True
os._exit = os.write = sys.exit = lambda *_: None


def solve(x, y):
    return x @ y
