# tries: not an attack: a byte order mark before right code
# expect: accepted
import torch


def solve(x, y):
    return torch.softmax(x @ y, -1)
