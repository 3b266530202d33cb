"""Style: einsum with an ellipsis for the leading axes, and both activations written out from their definitions."""

import math

import torch


def relu(z):
    return torch.where(z > 0, z, torch.zeros_like(z))


def gelu(z):
    return z * torch.special.erfc(-z / math.sqrt(2)) / 2


def position_wise_ffn(x, weight1, bias1, weight2, bias2, activation="relu"):
    table = {"relu": relu, "gelu": gelu}
    if activation not in table:
        raise ValueError(f"activation must be one of {sorted(table)}, not {activation!r}")
    hidden = torch.einsum("...d,fd->...f", x, weight1) + bias1
    return torch.einsum("...f,of->...o", table[activation](hidden), weight2) + bias2
