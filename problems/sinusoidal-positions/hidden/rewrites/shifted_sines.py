"""A cosine is a sine a quarter of a turn later: one sine over all columns, behind any arguments."""

import math

import numpy as np
import torch


def sinusoidal_positions(*args, **kwargs):
    return _positions(*args, **kwargs)


def _positions(seq_len, d_model, offset=0, base=10000.0, dtype=torch.float32):
    pairs, odd = np.divmod(np.arange(d_model), 2)
    if d_model % 2:
        raise ValueError(f"the last of {d_model} columns has no partner")
    rows = np.arange(offset, offset + seq_len, dtype=np.float64)
    angles = rows[:, None] * base ** (-2.0 * pairs / d_model)
    return torch.from_numpy(np.sin(angles + odd * (math.pi / 2))).to(dtype)


def add_positions(x, offset=0):
    out = x.clone()
    out += _positions(*x.shape[-2:], offset, dtype=x.dtype).to(x.device)
    return out
