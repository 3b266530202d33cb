# tries: a shape that broadcasts against the expected one
# expect: wrong answer
import torch


def solve(x, y):
    return torch.softmax(x @ y, -1)[:1]
