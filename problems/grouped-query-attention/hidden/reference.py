"""Grouped-query attention (Ainslie et al. 2023, arXiv:2305.13245, section 2.2), with a boolean mask.

With one key and value head it is multi-query attention (Shazeer 2019, arXiv:1911.02150), with as many as query heads it
is multi-head attention.
"""

import math

import torch
import torch.nn.functional as F


def grouped_query_attention(x, num_heads, num_kv_heads, weight_q, weight_k, weight_v, weight_o, mask=None):
    d_model = x.shape[-1]
    if d_model % num_heads != 0:
        raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}; all heads have one width")
    if num_heads % num_kv_heads != 0:
        raise ValueError(f"num_heads {num_heads} is not divisible by num_kv_heads {num_kv_heads}; all groups are equal")
    group_size = num_heads // num_kv_heads
    queries = F.linear(x, weight_q)  # (batch, seq_len, num_heads * d_head)
    keys = F.linear(x, weight_k)  # (batch, seq_len, num_kv_heads * d_head)
    values = F.linear(x, weight_v)  # (batch, seq_len, num_kv_heads * d_head)
    queries = split_heads(queries, num_heads)  # (batch, num_heads, seq_len, d_head)
    keys = split_heads(keys, num_kv_heads)  # (batch, num_kv_heads, seq_len, d_head)
    values = split_heads(values, num_kv_heads)  # (batch, num_kv_heads, seq_len, d_head)
    # Query head h uses key and value head h // group_size: each is repeated in place, a a b b, not a b a b.
    keys = keys.repeat_interleave(group_size, dim=1)  # (batch, num_heads, seq_len, d_head)
    values = values.repeat_interleave(group_size, dim=1)  # (batch, num_heads, seq_len, d_head)
    heads = attend(queries, keys, values, mask)  # (batch, num_heads, seq_len, d_head)
    merged = merge_heads(heads)  # (batch, seq_len, d_model)
    return F.linear(merged, weight_o)  # (batch, seq_len, d_model)


def split_heads(x, num_heads):
    chunks = x.reshape(x.shape[0], x.shape[1], num_heads, -1)  # (batch, seq_len, num_heads, d_head)
    return chunks.transpose(1, 2)  # (batch, num_heads, seq_len, d_head)


def merge_heads(x):
    chunks = x.transpose(1, 2)  # (batch, seq_len, num_heads, d_head)
    return chunks.reshape(x.shape[0], x.shape[2], -1)  # (batch, seq_len, num_heads * d_head)


def attend(queries, keys, values, mask):
    d_head = queries.shape[-1]
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=queries.device)
    hidden = ~mask  # broadcasts to (batch, num_heads, seq_len, seq_len)
    scores = queries @ keys.transpose(-2, -1)  # (batch, num_heads, seq_len, seq_len)
    scores = scores / math.sqrt(d_head)
    # A finite fill: in a row that sees nothing it gives even weights instead of NaN, and they are emptied below.
    lowest = torch.finfo(scores.dtype).min
    scores = scores.masked_fill(hidden, lowest)
    weights = torch.softmax(scores, dim=-1)
    weights = weights.masked_fill(hidden, 0.0)
    return weights @ values  # (batch, num_heads, seq_len, d_head)
