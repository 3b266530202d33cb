# tries: never end, and catch whatever an in-process limit would raise
# expect: time limit
def solve(x, y):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
