import torch


def _angles(seq_len, width, offset, base, device):
    positions = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)
    exponents = torch.arange(0, width, 2, dtype=torch.float64, device=device) / width
    return torch.outer(positions, float(base) ** -exponents)


def _interleave(left, right):
    return torch.stack((left, right), dim=-1).flatten(-2)


def _table(seq_len, embed_dim, offset=0, base=10000.0, dtype=torch.float32, device=None):
    if embed_dim % 2:
        raise ValueError(f"an even width is needed, not {embed_dim}")
    angles = _angles(seq_len, embed_dim, offset, base, device)
    return _interleave(angles.sin(), angles.cos()).to(dtype)


sinusoidal_positions = _table


def add_positions(x, offset=0):
    return x + _table(x.shape[-2], x.shape[-1], offset, dtype=x.dtype, device=x.device)
