"""Einsum and a NamedTuple; rows that see nothing are opened before the softmax and emptied after it."""
# style: gives a NamedTuple where a tuple is asked for, with both results in transposed memory

from typing import NamedTuple

import torch


class Attention(NamedTuple):
    output: torch.Tensor
    weights: torch.Tensor


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    scores = torch.einsum("...qd,...kd->...kq", query, key) * factor
    if mask is None:
        weights = scores.softmax(-2)
    else:
        visible = mask.expand(*query.shape[:-1], key.shape[-2]).mT
        sees_something = visible.any(-2, keepdim=True)
        opened = scores.where(visible, float("-inf")).where(sees_something, 0.0)
        weights = opened.softmax(-2).where(visible, 0.0)
    output = torch.einsum("...kq,...kd->...dq", weights, value)
    return Attention(output.mT, weights.mT)
