"""Column by column, summed in another order."""
# style: adds up in another order

import torch


def solve(x, y):
    scores = x @ y
    powers = torch.exp2((scores - scores.amax(-1, keepdim=True).detach()) / 0.6931471805599453)
    total = sum(powers.flip(-1).unbind(-1))
    return powers / total[:, None]
