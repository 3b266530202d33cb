"""A memo of float64 tables that only ever hands out copies; columns filled in place, frequencies by logarithms."""

import functools
import math

import torch


@functools.lru_cache(maxsize=8)
def _remembered(seq_len, d_model, offset, base):
    table = torch.empty(d_model, seq_len, dtype=torch.float64).T
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    frequencies = torch.exp(-2 * pairs / d_model * math.log(base))
    angles = torch.arange(offset, offset + seq_len).double()[:, None] * frequencies
    torch.sin(angles, out=table[:, 0::2])
    torch.cos(angles, out=table[:, 1::2])
    return table


def sinusoidal_positions(seq_len, d_model, offset=0, base=10000.0, dtype=torch.float32):
    if d_model % 2 == 1:
        raise ValueError(f"d_model={d_model} is odd")
    return _remembered(seq_len, d_model, offset, base).to(dtype, copy=True)


def add_positions(x, offset=0):
    table = sinusoidal_positions(x.size(1), x.size(2), offset, dtype=torch.float64)
    return (x.double() + table.to(x.device)).to(x.dtype)
