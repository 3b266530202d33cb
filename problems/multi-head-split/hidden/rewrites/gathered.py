"""Style: index arithmetic on flat memory; merging fills its own tensor in place and gives it back as a view."""

import torch


def split_heads(*args, **kwargs):
    return _split(*args, **kwargs)


def _split(x, num_heads):
    batch, seq_len, d_model = x.shape
    if d_model not in range(0, d_model + 1, num_heads):
        raise ValueError(f"d_model={d_model}, num_heads={num_heads}: the first must be a multiple of the second")
    d_head = d_model // num_heads
    device = x.device
    b, h, t, d = torch.meshgrid(
        *(torch.arange(size, device=device) for size in (batch, num_heads, seq_len, d_head)), indexing="ij"
    )
    return x.reshape(-1)[(b * seq_len + t) * d_model + h * d_head + d]


def merge_heads(x):
    batch, num_heads, seq_len, d_head = x.shape
    columns = x.new_empty(num_heads * d_head, seq_len, batch)
    for head in range(num_heads):
        columns[head * d_head : (head + 1) * d_head].copy_(x.select(1, head).permute(2, 1, 0))
    return columns.permute(2, 1, 0)
