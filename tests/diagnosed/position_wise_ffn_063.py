import math

import torch


def _activate(z, activation):
    if activation == "relu":
        return torch.clamp(z, min=0)
    return z * torch.sigmoid(1.702 * z)


def position_wise_ffn(x, weight1, bias1, weight2, bias2, activation="relu"):
    if activation not in ("relu", "gelu"):
        raise ValueError(f"unknown activation {activation!r}")
    lead = x.shape[:-1]
    tokens = x.reshape(math.prod(lead), x.shape[-1])

    results = []
    for i in range(tokens.shape[0]):
        hidden = weight1 @ tokens[i] + bias1
        hidden = _activate(hidden, activation)
        results.append(weight2 @ hidden + bias2)
    if not results:
        return x.new_zeros(*lead, weight2.shape[0])
    return torch.stack(results).reshape(*lead, weight2.shape[0])
