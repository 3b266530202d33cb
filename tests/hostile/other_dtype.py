# tries: the right values in float32
# expect: wrong answer
import torch


def solve(x, y):
    return torch.softmax(x @ y, -1).float()
