"""Numbers on the unit circle: the imaginary part is the sine, the real part the cosine."""

import torch


class OddWidthError(ValueError):
    pass


def sinusoidal_positions(seq_len, d_model, offset=0, base=10000.0, dtype=torch.float32, device=None):
    if d_model & 1:
        raise OddWidthError(f"{d_model} columns can't be paired")
    frequencies = torch.pow(base, torch.arange(d_model // 2, dtype=torch.float64, device=device) * (-2.0 / d_model))
    positions = torch.arange(seq_len, dtype=torch.float64, device=device) + offset
    circle = torch.exp(1j * torch.outer(positions, frequencies))
    return torch.view_as_real(circle).flip(-1).reshape(seq_len, d_model).to(dtype)


def add_positions(x, offset=0):
    return torch.add(x, sinusoidal_positions(*x.shape[1:], offset=offset, dtype=x.dtype, device=x.device))
