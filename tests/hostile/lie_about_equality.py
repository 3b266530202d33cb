# tries: return numbers, strings and containers whose methods lie
# expect: wrong answer
class Number(float):
    __eq__ = __lt__ = __gt__ = lambda self, other: True
    __float__ = lambda self: 0.5
    __hash__ = lambda self: 1


class Items(list):
    __len__ = lambda self: 10**9
    __eq__ = lambda self, other: True


def solve(x, y):
    return Items([Number(0.2)] * 15)
