"""Multi-head attention (Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2), with a mask and optional biases."""

import math

import torch
import torch.nn.functional as F


def multi_head_attention(
    query,
    key,
    value,
    num_heads,
    weight_q,
    weight_k,
    weight_v,
    weight_o,
    bias_q=None,
    bias_k=None,
    bias_v=None,
    bias_o=None,
    mask=None,
):
    d_model = query.shape[-1]
    if d_model % num_heads != 0:
        raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}; all heads have one width")
    queries = F.linear(query, weight_q, bias_q)  # (batch, q_len, d_model)
    keys = F.linear(key, weight_k, bias_k)  # (batch, k_len, d_model)
    values = F.linear(value, weight_v, bias_v)  # (batch, k_len, d_model)
    queries = split_heads(queries, num_heads)  # (batch, num_heads, q_len, d_head)
    keys = split_heads(keys, num_heads)  # (batch, num_heads, k_len, d_head)
    values = split_heads(values, num_heads)  # (batch, num_heads, k_len, d_head)
    heads = attend(queries, keys, values, mask)  # (batch, num_heads, q_len, d_head)
    merged = merge_heads(heads)  # (batch, q_len, d_model)
    return F.linear(merged, weight_o, bias_o)  # (batch, q_len, d_model)


def split_heads(x, num_heads):
    batch, seq_len, d_model = x.shape
    d_head = d_model // num_heads
    chunks = x.reshape(batch, seq_len, num_heads, d_head)
    return chunks.transpose(1, 2)  # (batch, num_heads, seq_len, d_head)


def merge_heads(x):
    batch, num_heads, seq_len, d_head = x.shape
    chunks = x.transpose(1, 2)  # (batch, seq_len, num_heads, d_head)
    return chunks.reshape(batch, seq_len, num_heads * d_head)


def attend(queries, keys, values, mask):
    d_head = queries.shape[-1]
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=queries.device)
    hidden = ~mask  # broadcasts to (batch, num_heads, q_len, k_len)
    scores = queries @ keys.transpose(-2, -1)  # (batch, num_heads, q_len, k_len)
    scores = scores / math.sqrt(d_head)
    # A finite fill: in a row that sees nothing it gives even weights instead of NaN, and they are emptied below.
    lowest = torch.finfo(scores.dtype).min
    scores = scores.masked_fill(hidden, lowest)
    weights = torch.softmax(scores, dim=-1)
    weights = weights.masked_fill(hidden, 0.0)
    return weights @ values  # (batch, num_heads, q_len, d_head)
