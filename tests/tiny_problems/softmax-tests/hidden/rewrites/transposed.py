"""In one expression, with a result that is not contiguous."""
# style: gives its result in transposed memory

import torch


def solve(x, y):
    return torch.softmax((x @ y).T.contiguous().T, -1).T.contiguous().T
