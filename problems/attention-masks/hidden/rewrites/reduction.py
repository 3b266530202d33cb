"""Style: what is hidden rather than what is visible, reductions, differences of index grids."""

import functools
import operator

import torch


def causal_mask(q_len, k_len=None, offset=0):
    k_len = q_len + offset if k_len is None else k_len
    row, column = torch.meshgrid(torch.arange(q_len), torch.arange(k_len), indexing="ij")
    future = column - row > offset
    return ~future


def padding_mask(lengths, max_len, side="right"):
    bad = [length for length in lengths.tolist() if length not in range(max_len + 1)]
    if bad:
        raise ValueError(f"lengths {bad} are outside of 0 to {max_len}")
    steps = torch.arange(1, max_len + 1, device=lengths.device, dtype=lengths.dtype)
    hidden = steps.view(1, 1, 1, -1).gt(lengths.view(-1, 1, 1, 1))
    return hidden.logical_not()


def combine_masks(*masks):
    hidden = [~mask for mask in masks if mask is not None]
    return ~functools.reduce(operator.or_, hidden) if hidden else None
