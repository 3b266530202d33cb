# tries: objects whose finalizers make more of them and never come to an end
# expect: wrong answer, runtime error, time limit, memory limit
class Again:
    def __init__(self, depth):
        self.depth = depth

    def __del__(self):
        if self.depth:
            Again(self.depth - 1)
            Again(self.depth - 1)


def solve(x, y):
    Again(12)
    return x @ y
