import torch
from torch.nn import functional as F


def divide(name, whole, count_name, count):
    if whole % count:
        raise ValueError(f"{count_name} {count} does not divide {name} {whole}")
    return whole // count


def kv_heads(x, weight, num_kv_heads):
    """(batch, num_kv_heads, 1, seq_len, d_head)"""
    return F.linear(x, weight).unflatten(-1, (num_kv_heads, -1)).transpose(1, 2).unsqueeze(2)


def grouped_mask(mask, num_kv_heads, group):
    """Bring the mask to axes that broadcast to (batch, num_kv_heads, group, seq_len, seq_len)."""
    if mask is None or mask.ndim == 2 or mask.shape[1] == 1:
        return mask if mask is None or mask.ndim == 2 else mask.unsqueeze(2)
    return mask[:, ::group].unsqueeze(2)


def masked_softmax(scores, mask):
    if mask is None:
        return F.softmax(scores, dim=-1)
    low = torch.finfo(scores.dtype).min
    return F.softmax(scores.masked_fill(~mask, low), dim=-1).masked_fill(~mask, 0)


def grouped_query_attention(x, num_heads, num_kv_heads, weight_q, weight_k, weight_v, weight_o, mask=None):
    d_head = divide("d_model", x.shape[-1], "num_heads", num_heads)
    group = divide("num_heads", num_heads, "num_kv_heads", num_kv_heads)
    q = F.linear(x, weight_q).unflatten(-1, (num_kv_heads, group, d_head)).permute(0, 2, 3, 1, 4)
    k = kv_heads(x, weight_k, num_kv_heads)
    v = kv_heads(x, weight_v, num_kv_heads)
    scores = q @ k.transpose(-1, -2) / d_head ** 0.5
    weights = masked_softmax(scores, grouped_mask(mask, num_kv_heads, group))
    heads = weights @ v
    return F.linear(heads.permute(0, 3, 1, 2, 4).flatten(2), weight_o)
