"""Complex numbers in double precision: a pair is a number, a position multiplies it."""

import math

import torch


class OddHeadError(ValueError):
    pass


def rotary_angles(positions, d_head, base=10000.0):
    if d_head & 1:
        raise OddHeadError(f"{d_head} features leave one over")
    exponents = torch.linspace(0, 1, d_head // 2 + 1, dtype=torch.float64, device=positions.device)[:-1]
    return positions[:, None] * torch.exp(-math.log(base) * exponents)


def apply_rotary(x, positions, base=10000.0):
    turn = torch.exp(1j * rotary_angles(positions, x.size(-1), base))
    real, imaginary = x.double().unflatten(-1, (2, -1)).unbind(-2)
    numbers = torch.complex(real, imaginary) * turn
    return torch.stack((numbers.real, numbers.imag), dim=-2).flatten(-2).to(x.dtype)
