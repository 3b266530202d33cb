"""Scaled dot-product attention (Vaswani et al. 2017, arXiv:1706.03762, equation 1), with a boolean mask."""

import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    """Attend: query (..., q_len, d_k), key (..., k_len, d_k), value (..., k_len, d_v) -> (output, weights).

    ``mask`` broadcasts to (..., q_len, k_len), True = may attend. A query that sees no key gets zeros.
    """
    d_k = query.shape[-1]
    if scale is None:
        scale = 1 / math.sqrt(d_k)
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=query.device)
    hidden = ~mask  # broadcasts to (..., q_len, k_len)
    scores = query @ key.transpose(-2, -1)  # (..., q_len, k_len)
    scores = scores * scale  # (..., q_len, k_len)
    # A finite fill: the softmax of a row of nothing but -inf would be NaN, and NaN is hard to get rid of afterwards.
    lowest = torch.finfo(scores.dtype).min
    scores = scores.masked_fill(hidden, lowest)  # (..., q_len, k_len)
    weights = torch.softmax(scores, dim=-1)  # (..., q_len, k_len)
    # In a row that sees something these weights are 0 already; a row that sees nothing is uniform until here.
    weights = weights.masked_fill(hidden, 0.0)  # (..., q_len, k_len)
    output = weights @ value  # (..., q_len, d_v)
    return output, weights
