"""Plain loops over tokens and pairs in Python's own floats, written into a fresh result."""

import math

import torch


def rotary_angles(positions, d_head, base=10000.0):
    if d_head % 2 == 1:
        raise ValueError(f"d_head must be even, got {d_head}")
    rows = [[p / math.pow(base, 2 * j / d_head) for j in range(d_head // 2)] for p in positions.tolist()]
    return torch.tensor(rows, dtype=torch.float64, device=positions.device)


def apply_rotary(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    angles = rotary_angles(positions, x.shape[-1], base).tolist()
    result = torch.empty_like(x, memory_format=torch.contiguous_format)
    for token, row in enumerate(angles):
        for j, angle in enumerate(row):
            first, second = x[..., token, j], x[..., token, j + half]
            result[..., token, j] = math.cos(angle) * first - math.sin(angle) * second
            result[..., token, j + half] = math.sin(angle) * first + math.cos(angle) * second
    return result
