# tries: behave well on the first calls only
# expect: wrong answer
import torch

calls = 0


def solve(x, y):
    global calls
    calls += 1
    return torch.softmax(x @ y, -1) if calls == 1 else x @ y
