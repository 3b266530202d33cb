"""Style: a loop over heads, slices that are stacked, and concatenated again."""

import torch


def split_heads(x, num_heads):
    width, rest = divmod(x.size(2), num_heads)
    if rest:
        raise ValueError(f"{x.size(2)} features can't be shared by {num_heads} heads")
    heads = []
    for head in range(num_heads):
        start = head * width
        heads.append(x[:, :, start : start + width])
    return torch.stack(heads, dim=1)


def merge_heads(x):
    heads = [x[:, head] for head in range(x.size(1))]
    return torch.cat(heads, dim=-1)
