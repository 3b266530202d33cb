"""Rotary positions (Su et al. 2021, arXiv:2104.09864, section 3.4.2), pairs formed from the two halves of a head, as in
GPT-NeoX (Black et al. 2022, arXiv:2204.06745, section 2.1.1)."""

import torch


def rotary_angles(positions, d_head, base=10000.0):
    """The angle of each position (seq_len,) and pair of features: (seq_len, d_head / 2), float64."""
    if d_head % 2 != 0:
        raise ValueError(f"d_head is {d_head}, which is odd: every feature needs a partner to turn with")
    doubled = torch.arange(0, d_head, 2, dtype=torch.float64, device=positions.device)  # 2j, (d_head / 2,)
    frequencies = base ** (-doubled / d_head)
    # In float32 the product would be off by thousandths of a turn at position 100,000.
    return positions.to(torch.float64).unsqueeze(1) * frequencies


def apply_rotary(x, positions, base=10000.0):
    """x (..., seq_len, d_head), positions (seq_len,) -> the shape and dtype of x."""
    d_head = x.shape[-1]
    angles = rotary_angles(positions, d_head, base)  # (seq_len, d_head / 2)
    cosine = angles.cos().to(x.dtype)
    sine = angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)  # (..., seq_len, d_head / 2) each: feature j is paired with j + d_head / 2
    turned_first = first * cosine - second * sine
    turned_second = first * sine + second * cosine
    return torch.cat([turned_first, turned_second], dim=-1)
