"""Causal multi-head self-attention with a cache of keys and values (Shazeer 2019, arXiv:1911.02150, section 2.4)."""

import math

import torch
import torch.nn.functional as F


def attend_with_cache(x, cache, num_heads, weight_q, weight_k, weight_v, weight_o):
    d_model = x.shape[-1]
    if d_model % num_heads != 0:
        raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}; all heads have one width")
    queries = split_heads(F.linear(x, weight_q), num_heads)  # (batch, num_heads, new_len, d_head)
    keys = split_heads(F.linear(x, weight_k), num_heads)  # (batch, num_heads, new_len, d_head)
    values = split_heads(F.linear(x, weight_v), num_heads)  # (batch, num_heads, new_len, d_head)
    past_len = 0
    if cache is not None:
        past_keys, past_values = cache
        past_len = past_keys.shape[2]
        # New tensors: whoever still holds the given cache, to go on from there another time, finds it as it was.
        keys = torch.cat([past_keys, keys], dim=2)  # (batch, num_heads, past_len + new_len, d_head)
        values = torch.cat([past_values, values], dim=2)  # (batch, num_heads, past_len + new_len, d_head)
    heads = attend(queries, keys, values, past_len)  # (batch, num_heads, new_len, d_head)
    merged = merge_heads(heads)  # (batch, new_len, d_model)
    output = F.linear(merged, weight_o)  # (batch, new_len, d_model)
    return output, (keys, values)


def split_heads(x, num_heads):
    chunks = x.reshape(x.shape[0], x.shape[1], num_heads, -1)  # (batch, seq_len, num_heads, d_head)
    return chunks.transpose(1, 2)  # (batch, num_heads, seq_len, d_head)


def merge_heads(x):
    chunks = x.transpose(1, 2)  # (batch, seq_len, num_heads, d_head)
    return chunks.reshape(x.shape[0], x.shape[2], -1)  # (batch, seq_len, num_heads * d_head)


def attend(queries, keys, values, past_len):
    new_len, d_head = queries.shape[2:]
    scores = queries @ keys.transpose(-2, -1)  # (batch, num_heads, new_len, past_len + new_len)
    scores = scores / math.sqrt(d_head)
    positions = torch.arange(new_len, device=queries.device) + past_len  # (new_len,), in the whole sequence
    key_positions = torch.arange(keys.shape[2], device=queries.device)  # (past_len + new_len,)
    hidden = key_positions > positions.unsqueeze(-1)  # (new_len, past_len + new_len)
    scores = scores.masked_fill(hidden, float("-inf"))  # no row is empty: each token sees itself
    weights = torch.softmax(scores, dim=-1)
    return weights @ values  # (batch, num_heads, new_len, d_head)
