"""A 2 by 2 matrix for each token and pair, applied by einsum; any arguments passed through."""

import torch


def rotary_angles(*args, **kwargs):
    return _angles(*args, **kwargs)


def _angles(positions, d_head, base=10000.0):
    pairs, odd = divmod(d_head, 2)
    if odd:
        raise ValueError(f"odd width {d_head}")
    numbers = torch.arange(pairs, dtype=torch.float64).to(positions.device)
    return torch.einsum("s,j->sj", positions.to(torch.float64), base ** (numbers * -2 / d_head))


def apply_rotary(x, positions, base=10000.0, layout="halves"):
    angles = _angles(positions, x.shape[-1], base)
    cosine, sine = angles.cos(), angles.sin()
    matrices = torch.stack((cosine, -sine, sine, cosine), -1).unflatten(-1, (2, 2)).to(x.dtype)  # (seq, pairs, 2, 2)
    points = x.unflatten(-1, (2, x.shape[-1] // 2))  # (..., seq, 2, pairs)
    return torch.einsum("sjab,...sbj->...saj", matrices, points).flatten(-2)
