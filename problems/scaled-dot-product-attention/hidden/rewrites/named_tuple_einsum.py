"""Einsum, a NamedTuple, -inf as fill: rows that see nothing are opened before the softmax and emptied after it."""

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
    return Attention(torch.einsum("...qk,...kd->...qd", weights, value), weights)
