# tries: only NaN, hoping that |a - b| > tolerance is false
# expect: wrong answer
import torch


def solve(x, y):
    return torch.softmax(x @ y, -1) * float("nan")
