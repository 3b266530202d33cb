"""The mask as a float bias that is added, query and key both scaled by the root of the scale, baddbmm and bmm."""

import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    share = math.sqrt(query.shape[-1] ** -0.5 if scale is None else scale)
    shape = (*query.shape[:-1], key.shape[-2])
    bias = torch.zeros(shape, dtype=query.dtype, device=query.device)
    if mask is not None:
        bias.masked_fill_(mask.logical_not(), torch.finfo(query.dtype).min)
    flat_query, flat_key, flat_value = (
        part.flatten(0, -3) if part.dim() > 2 else part[None] for part in (query, key, value)
    )
    scores = torch.baddbmm(bias.reshape(-1, *shape[-2:]), flat_query * share, (flat_key * share).transpose(1, 2))
    weights = torch.softmax(scores, 2)
    weights = weights * (bias.reshape_as(weights) == 0)
    return torch.bmm(weights, flat_value).reshape(*shape[:-1], value.shape[-1]), weights.reshape(shape)
