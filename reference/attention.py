"""Attention on PyTorch's fused operation.

Sources: Vaswani et al. 2017 (arXiv:1706.03762), equation 1; PyTorch's documentation of `scaled_dot_product_attention`.
"""

import torch
import torch.nn.functional as F


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    """Attend: query (..., q_len, d_k), key (..., k_len, d_k), value (..., k_len, d_v) -> (output, weights).

    ``mask`` broadcasts to (..., q_len, k_len), True = may attend; a query that sees no key gets zeros. The fused
    operation keeps its weights to itself, so they are taken as its output for the identity matrix as value.
    """
    k_len = key.shape[-2]
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], k_len)
    identity = torch.eye(k_len, dtype=value.dtype, device=value.device).expand(*key.shape[:-2], k_len, k_len)
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale)
    weights = F.scaled_dot_product_attention(query, key, identity, attn_mask=mask, scale=scale)
    return output, weights


def split_heads(x, num_heads):
    """Cut x (batch, seq_len, d_model) into consecutive chunks: (batch, num_heads, seq_len, d_model // num_heads).

    Vaswani et al. 2017, section 3.2.2. ValueError where num_heads does not divide d_model.
    """
    if x.shape[-1] % num_heads:
        raise ValueError(f"d_model {x.shape[-1]} is not divisible by num_heads {num_heads}")
    return torch.stack(torch.tensor_split(x, num_heads, dim=-1), dim=1)


def merge_heads(x):
    """Lay heads (batch, num_heads, seq_len, d_head) side by side: (batch, seq_len, num_heads * d_head)."""
    return torch.cat(x.unbind(dim=1), dim=-1)
