"""A table of all positions up to the largest, kept while it is long enough and only read; rows by index."""

import torch

_kept = {}


def rotary_angles(positions, d_head, base=10000.0):
    if d_head % 2:
        raise ValueError(f"{d_head} is odd")
    return _table(int(positions.max()) + 1, d_head, base).to(positions.device)[positions.long()]


def _table(length, d_head, base):
    key = (d_head, base)
    if key not in _kept or len(_kept[key]) < length:
        frequencies = torch.pow(base, torch.arange(0, -d_head, -2, dtype=torch.float64) / d_head)
        _kept[key] = torch.arange(length, dtype=torch.float64)[:, None] * frequencies
    return _kept[key]


def apply_rotary(x, positions, base=10000.0):
    angles = rotary_angles(positions, x.shape[-1], base).to(x.device)
    cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    turned = x * torch.cat([cosine, cosine], -1)
    first, second = x.tensor_split(2, dim=-1)
    turned += torch.cat([-second * sine, first * sine], -1)
    return turned
