# tries: return a mapping whose items never end
# expect: time limit, memory limit, output limit
class Endless(dict):
    def items(self):
        while True:
            yield 1, "x" * 1000


def solve(x, y):
    return Endless()
