"""Positions by complex numbers: a pair of features is a point of the plane, a position turns it.

Sources: sinusoidal positions, Vaswani et al. 2017 (arXiv:1706.03762), section 3.5; rotary positions, Su et al. 2021
(arXiv:2104.09864), section 3.4.2.
"""

from __future__ import annotations

import torch
from torch import Tensor


def sinusoidal_positions(
    seq_len: int, d_model: int, offset: int = 0, base: float = 10000.0, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Sines in the even columns, cosines in the odd ones, of positions from ``offset`` on: (seq_len, d_model).

    ValueError for an odd ``d_model``.
    """
    if d_model % 2:
        raise ValueError(f"d_model {d_model} is odd")
    turned = _turns(torch.arange(offset, offset + seq_len), d_model, base)  # cosine + i sine
    return torch.view_as_real(turned).flip(-1).flatten(1).to(dtype)


def add_positions(x: Tensor, offset: int = 0) -> Tensor:
    """x (batch, seq_len, d_model) plus the sinusoidal positions, in x's dtype; ValueError for an odd d_model."""
    return x + sinusoidal_positions(x.shape[1], x.shape[2], offset, dtype=torch.float64).to(x)


def rotary_angles(positions: Tensor, d_head: int, base: float = 10000.0) -> Tensor:
    """Angles of positions (seq_len,) and pairs: (seq_len, d_head / 2) float64; ValueError for an odd ``d_head``."""
    if d_head % 2:
        raise ValueError(f"d_head {d_head} is odd")
    return torch.outer(positions.double(), _frequencies(d_head, base).to(positions.device))


def apply_rotary(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """x (..., seq_len, d_head) with features j and j + d_head / 2 turned by their position's angle j.

    ValueError for an odd ``d_head``.
    """
    if x.shape[-1] % 2:
        raise ValueError(f"d_head {x.shape[-1]} is odd")
    points = torch.complex(*x.double().chunk(2, dim=-1)) * _turns(positions, x.shape[-1], base)
    return torch.cat([points.real, points.imag], dim=-1).to(x.dtype)


def _turns(positions: Tensor, width: int, base: float) -> Tensor:
    """Points of the unit circle, one for each position and pair of features: (positions, width / 2) complex128."""
    angles = torch.outer(positions.double(), _frequencies(width, base).to(positions.device))
    return torch.polar(torch.ones_like(angles), angles)


def _frequencies(width: int, base: float) -> Tensor:
    """base ** (-2j / width) for every pair j: (width / 2,) float64."""
    pairs = width // 2
    return torch.logspace(0.0, -(pairs - 1) / pairs, pairs, base, dtype=torch.float64)
