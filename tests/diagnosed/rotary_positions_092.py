import torch


def rotary_angles(positions, d_head, base=10000.0):
    if d_head % 2 != 0:
        raise ValueError("d_head has to be even, but it is " + str(d_head))
    half = d_head // 2
    j = torch.arange(half, device=positions.device)
    j = j.to(torch.float64)
    exponents = -2.0 * j / d_head
    frequencies = float(base) ** exponents
    positions = positions.to(torch.float64)
    positions_column = positions.reshape(-1, 1)
    frequencies_row = frequencies.reshape(1, -1)
    angles = positions_column * frequencies_row
    return angles


def apply_rotary(x, positions, base=10000.0):
    d_head = x.shape[-1]
    half = d_head // 2

    angles = rotary_angles(positions, d_head, base)
    angles = angles.to(x.device)
    cos = torch.cos(angles)
    sin = torch.sin(angles)
    cos = cos.to(x.dtype)
    sin = sin.to(x.dtype)

    first = x[..., :half].clone()
    second = x[..., half:].clone()
    x[..., :half] = first * cos - second * sin
    x[..., half:] = first * sin + second * cos
    return x
