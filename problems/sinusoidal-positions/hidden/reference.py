"""Sinusoidal positions (Vaswani et al. 2017, arXiv:1706.03762, section 3.5), computed in float64."""

import torch


def sinusoidal_positions(seq_len, d_model, offset=0, base=10000.0, dtype=torch.float32):
    """The vectors of positions offset, offset + 1, ...: (seq_len, d_model)."""
    table = _table(seq_len, d_model, offset, base)
    return table.to(dtype)


def add_positions(x, offset=0):
    """x (batch, seq_len, d_model) plus the position vectors, in x's dtype."""
    seq_len, d_model = x.shape[1:]
    table = _table(seq_len, d_model, offset, 10000.0, x.device)
    return x + table.to(x.dtype)  # one table for every sequence of the batch


def _table(seq_len, d_model, offset, base, device=None):
    if d_model % 2 != 0:
        raise ValueError(f"d_model is {d_model}, which is odd: every sine needs its cosine")
    # In float32 a position's product with a frequency is off by a few thousandths of a turn at position 100,000.
    positions = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)  # (seq_len,)
    even_columns = torch.arange(0, d_model, 2, dtype=torch.float64, device=device)  # 2j, (d_model / 2,)
    wavelengths = base ** (even_columns / d_model)  # over 2 pi
    angles = positions.unsqueeze(1) / wavelengths  # (seq_len, d_model / 2)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (seq_len, d_model / 2, 2)
    return pairs.flatten(1)  # a sine and its cosine side by side
