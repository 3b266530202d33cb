# tries: let the list of closed functions that were seen name what never was closed, at lines that no file has
# expect: accepted
import sys

import torch


class Endless(dict):
    def items(self):
        return [("\x1b[31m" + "closed" * 100, 10**3000), (5, -1), ([], True)] + [(f"name {n}", n) for n in range(1000)]


frame = sys._getframe()
while "watch" not in frame.f_locals:
    frame = frame.f_back
frame.f_locals["watch"].seen = Endless()


def solve(x, y):
    return torch.softmax(x @ y, -1)
