"""Axes: b = batch, q = queries, k = keys."""
import torch


def causal_mask(q_len, k_len=None, offset=0):
    if k_len is None:
        k_len = q_len + offset
    q_position = torch.arange(q_len) + offset
    k_position = torch.arange(k_len)
    q_grid = torch.einsum("q,k->qk", q_position, torch.ones_like(k_position))
    k_grid = torch.einsum("q,k->qk", torch.ones_like(q_position), k_position)
    return k_grid <= q_grid


def padding_mask(lengths, max_len):
    for length in lengths.tolist():
        if length < 0:
            raise ValueError(f"length {length} is not possible with max_len {max_len}")
    wide = lengths.to(torch.int64)
    k_position = torch.arange(max_len, device=lengths.device)
    length_grid = torch.einsum("b,k->bk", wide, torch.ones_like(k_position))
    k_grid = torch.einsum("b,k->bk", torch.ones_like(wide), k_position)
    b_k = k_grid < length_grid
    return b_k[:, None, None, :]


def combine_masks(*masks):
    present = [m for m in masks if m is not None]
    if not present:
        return None
    result = present[0]
    for m in present[1:]:
        both = torch.einsum("...,...->...", result.to(torch.int64), m.to(torch.int64))
        result = both > 0
    return result
