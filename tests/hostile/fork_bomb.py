# tries: fork without end
# expect: runtime error
# needs: kernel
import os


def solve(x, y):
    while True:
        os.fork()
