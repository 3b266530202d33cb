# tries: keep the comparison busy with a set of numbers that all have one hash
# expect: runtime error


class Keys(set):
    def __iter__(self):
        return iter(i * (2**61 - 1) for i in range(3_000))


def solve(x, y):
    return Keys()
