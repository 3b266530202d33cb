"""Plain loops over positions and columns, in Python's own floats."""

import math

import torch


def sinusoidal_positions(seq_len, d_model, offset=0, base=10000.0, dtype=torch.float32):
    if d_model % 2:
        raise ValueError(f"odd d_model: {d_model}")
    rows = []
    for position in range(offset, offset + seq_len):
        row = []
        for column in range(d_model):
            angle = position * math.pow(base, -(column - column % 2) / d_model)
            row.append(math.cos(angle) if column % 2 else math.sin(angle))
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float64).to(dtype)


def add_positions(x, offset=0):
    table = sinusoidal_positions(x.shape[1], x.shape[2], offset, dtype=x.dtype).to(x.device)
    return torch.stack([sequence + table for sequence in x])
