"""A fill of -inf with masked_fill, and nan_to_num after the softmax: masked_fill's backward drops the NaN as well."""

import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    if scale is None:
        scale = 1 / math.sqrt(query.size(-1))
    attention = scale * torch.matmul(query, key.swapaxes(-1, -2))
    if mask is not None:
        attention = attention.masked_fill(torch.logical_not(mask), -math.inf)
    attention = torch.nn.functional.softmax(attention, dim=-1)
    attention = torch.nan_to_num(attention, nan=0.0)
    return torch.matmul(attention, value), attention
