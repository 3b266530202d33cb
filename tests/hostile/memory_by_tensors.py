# tries: take memory by many tensors
# expect: memory limit
import torch


def solve(x, y):
    kept = []
    while True:
        kept.append(torch.ones(1 << 20, dtype=torch.float64))
