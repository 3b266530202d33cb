# tries: change the inputs, so that a reference fed from the same memory would agree
# expect: wrong answer
import torch


def solve(x, y):
    with torch.no_grad():
        x.zero_(), y.zero_()
    return torch.softmax(x @ y, -1)
