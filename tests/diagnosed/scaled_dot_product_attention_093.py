import torch


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = scale * (query @ key.detach().mT)
    if mask is None:
        weights = scores.softmax(-1)
    else:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1).masked_fill(~mask, 0)
    return weights @ value, weights
