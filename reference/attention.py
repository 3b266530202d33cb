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
    """Multi-head attention by `F.multi_head_attention_forward`: Vaswani et al. 2017, section 3.2.2.

    query (batch, q_len, d_model), key and value (batch, k_len, d_key), weight_q and weight_o (d_model, d_model),
    weight_k and weight_v (d_model, d_key), biases (d_model,) or None; ``mask`` has 2 or 4 axes that broadcast to
    (batch, num_heads, q_len, k_len), True = may attend. Gives (batch, q_len, d_model): the output bias alone for a
    query that sees no key. ValueError where num_heads does not divide d_model.
    """
    batch, q_len, d_model = query.shape
    if d_model % num_heads:
        raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}")
    zeros = query.new_zeros(d_model)
    biases = [zeros if bias is None else bias for bias in (bias_q, bias_k, bias_v)]
    if mask is not None:  # there True = may not attend, and heads lie behind the batch on one axis
        mask = ~mask.expand(batch, num_heads, q_len, key.shape[1]).flatten(0, 1)
    output, _ = F.multi_head_attention_forward(
        *(x.transpose(0, 1) for x in (query, key, value)),
        embed_dim_to_check=d_model,
        num_heads=num_heads,
        in_proj_weight=None,
        in_proj_bias=torch.cat(biases),
        bias_k=None,
        bias_v=None,
        add_zero_attn=False,
        dropout_p=0.0,
        out_proj_weight=weight_o,
        out_proj_bias=bias_o,
        need_weights=False,  # with weights it gives NaN for a query that sees no key
        attn_mask=mask,
        use_separate_proj_weight=True,
        q_proj_weight=weight_q,
        k_proj_weight=weight_k,
        v_proj_weight=weight_v,
    )
    return output.transpose(0, 1)


def grouped_query_attention(x, num_heads, num_kv_heads, weight_q, weight_k, weight_v, weight_o, mask=None):
    """Grouped-query attention by the fused operation's own switch: Ainslie et al. 2023 (arXiv:2305.13245), section 2.2.

    x (batch, seq_len, d_model), weight_q and weight_o (d_model, d_model), weight_k and weight_v
    (num_kv_heads * d_head, d_model); ``mask`` has 2 or 4 axes that broadcast to (batch, num_heads, seq_len, seq_len),
    True = may attend. Gives (batch, seq_len, d_model). ValueError where num_heads does not divide d_model, or
    num_kv_heads num_heads.
    """
    batch, seq_len, d_model = x.shape
    if d_model % num_heads:
        raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}")
    if num_heads % num_kv_heads:
        raise ValueError(f"num_heads {num_heads} is not divisible by num_kv_heads {num_kv_heads}")
    if mask is not None:
        mask = mask.expand(batch, num_heads, seq_len, seq_len)
    heads = F.scaled_dot_product_attention(
        split_heads(F.linear(x, weight_q), num_heads),
        split_heads(F.linear(x, weight_k), num_kv_heads),
        split_heads(F.linear(x, weight_v), num_kv_heads),
        attn_mask=mask,
        enable_gqa=True,
    )
    return F.linear(merge_heads(heads), weight_o)


def attend_with_cache(x, cache, num_heads, weight_q, weight_k, weight_v, weight_o):
    """Causal self-attention of new tokens that continue a cache: Shazeer 2019 (arXiv:1911.02150), section 2.4.

    x (batch, new_len, d_model); ``cache`` is None or (keys, values), each (batch, num_heads, past_len, d_head); weights
    (d_model, d_model). Gives (output, cache): (batch, new_len, d_model), and the cache with the new tokens behind the
    past. Every token gets a call of the fused operation with just the keys that it may see, so there is no mask.
    ValueError where num_heads does not divide d_model.
    """
    queries, keys, values = (split_heads(F.linear(x, weight), num_heads) for weight in (weight_q, weight_k, weight_v))
    if cache is not None:
        keys, values = (torch.cat([old, new], dim=2) for old, new in zip(cache, (keys, values), strict=True))
    seen = range(keys.shape[2] - x.shape[1] + 1, keys.shape[2] + 1)
    heads = [
        F.scaled_dot_product_attention(query.unsqueeze(2), keys[:, :, :count], values[:, :, :count])
        for query, count in zip(queries.unbind(2), seen, strict=True)
    ]
    return F.linear(merge_heads(torch.cat(heads, dim=2)), weight_o), (keys, values)
