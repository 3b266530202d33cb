# tries: huge numbers: in a result, in a message, as a shape
# expect: wrong answer, runtime error, memory limit
import sys

import torch

sys.set_int_max_str_digits(0)


def solve(x, y):
    if x.requires_grad:
        torch.empty(2**62, 2**62)
    return {10**5000: [10**100_000, -(10**300), 1e308 * 10], "x": complex(0, float("inf"))}
