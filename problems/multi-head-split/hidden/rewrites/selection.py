"""Style: products with selection matrices: every head picks its features, and puts them back, by einsum."""

import torch


def _selection(num_heads, d_head, like):
    picks = torch.eye(num_heads * d_head, dtype=like.dtype, device=like.device)
    return picks.view(-1, num_heads, d_head)


def split_heads(x, num_heads):
    d_model = x.shape[-1]
    if d_model / num_heads != d_model // num_heads:
        raise ValueError(f"can't split a width of {d_model} into {num_heads} heads")
    return torch.einsum("btf,fhd->bhtd", x, _selection(num_heads, d_model // num_heads, x))


def merge_heads(x):
    return torch.einsum("bhtd,fhd->btf", x, _selection(x.shape[1], x.shape[3], x))
