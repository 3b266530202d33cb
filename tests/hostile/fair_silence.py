# tries: not an attack: output switched off by None, and a closed error stream
# expect: accepted
import sys

import torch

sys.stdout = None


def solve(x, y):
    print("unheard")
    return torch.softmax(x @ y, -1)
