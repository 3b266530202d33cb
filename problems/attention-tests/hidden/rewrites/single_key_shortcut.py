"""A shortcut for a single visible key: the output is the value then, as it is."""
# style: gives the value itself, or a view of it, as the output where there is a single key

import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    weights = _weights(query, key, mask, 1 / math.sqrt(query.size(-1)) if scale is None else scale)
    if key.size(-2) > 1 or not (mask is None or mask.all()):
        return torch.matmul(weights, value), weights
    if query.size(-2) == 1:
        return value, weights
    return value.expand(*query.shape[:-1], value.size(-1)), weights


def _weights(query, key, mask, scale):
    scores = torch.matmul(query, key.transpose(-1, -2)).mul_(scale)
    if mask is None:
        return scores.softmax(-1)
    logs = torch.where(mask, scores, torch.finfo(scores.dtype).min).log_softmax(-1)
    return torch.where(mask, logs.exp(), 0)
