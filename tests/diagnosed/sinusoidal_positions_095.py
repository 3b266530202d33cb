import torch
from torch import einsum


def sinusoidal_positions(seq_len, d_model, offset=0, base=10000.0, dtype=torch.float32, device=None):
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    p = torch.arange(seq_len, dtype=torch.float64, device=device) + offset
    j = torch.arange(d_model // 2, dtype=torch.float64, device=device)
    angle = einsum("p,j->pj", p, base ** (-2 * j / d_model))
    table = torch.empty(seq_len, d_model, dtype=torch.float64, device=device)
    table[:, 0::2] = torch.sin(angle)
    table[:, 1::2] = torch.cos(angle)
    return table.to(dtype)


def add_positions(x, offset=0):
    b, s, d = x.shape
    table = sinusoidal_positions(b, d, offset=offset, dtype=x.dtype, device=x.device)
    everywhere = einsum("bd,s->bsd", table, table.new_ones(s))
    return x + everywhere
