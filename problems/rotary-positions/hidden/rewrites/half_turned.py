"""The table doubled to the full width, and x beside itself turned by a right angle."""

import torch


def rotary_angles(positions, d_head, base=10000.0, *, device=None):
    if d_head % 2:
        raise ValueError(f"d_head={d_head} can't be halved")
    pair = torch.arange(d_head // 2, device=positions.device, dtype=torch.float64)
    return torch.outer(positions.double(), 1.0 / base ** (2 * pair / d_head))


def _right_angle(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def apply_rotary(x, positions, base=10000.0):
    angles = rotary_angles(positions, x.shape[-1], base)
    both = torch.cat((angles, angles), dim=-1)
    return x * both.cos().to(x.dtype) + _right_angle(x) * both.sin().to(x.dtype)
