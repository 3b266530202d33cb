"""Softmax first, mask and renormalize afterwards, stably: in logarithms, by the visible keys' logsumexp."""
# style: takes the softmax first and renormalizes over the visible keys, in logarithms

import torch


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    if scale is None:
        scale = 1 / query.shape[-1] ** 0.5
    scores = (query * scale) @ key.transpose(-1, -2)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    scores = torch.where(mask, scores, 0)  # what is hidden must not take part, not even as a number
    log_share = torch.where(mask, scores.log_softmax(-1), -torch.inf)
    empty = ~mask.any(-1, keepdim=True)
    kept = torch.where(empty, 0, log_share).logsumexp(-1, keepdim=True)
    weights = torch.where(mask, (log_share - kept).exp(), 0)
    return weights @ value, weights
