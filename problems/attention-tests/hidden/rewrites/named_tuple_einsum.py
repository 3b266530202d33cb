"""Einsum, a NamedTuple, -inf as fill: rows that see nothing are opened before the softmax and emptied after it."""
# style: gives a NamedTuple where a tuple is asked for, in transposed memory

from typing import NamedTuple

import torch


class Attention(NamedTuple):
    output: torch.Tensor
    weights: torch.Tensor


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    scores = torch.einsum("...qd,...kd->...qk", query, key) * factor
    if mask is None:
        weights = scores.softmax(-1)
    else:
        sees_something = mask.expand_as(scores).any(-1, keepdim=True)
        scores = scores.where(mask, float("-inf")).where(sees_something, 0.0)
        weights = scores.softmax(-1).where(sees_something, 0.0)
    output = torch.einsum("...qk,...kd->...dq", weights, value).transpose(-1, -2)
    return Attention(output, weights)
