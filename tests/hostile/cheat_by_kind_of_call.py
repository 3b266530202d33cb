# tries: be right only where a gradient is asked for, or only where none is
# expect: wrong answer
import torch


def solve(x, y):
    return torch.softmax(x @ y, -1) if x.requires_grad else torch.softmax(x @ y, 0)
