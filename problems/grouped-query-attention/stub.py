"""Grouped-query attention as a function of its weights."""

import torch  # noqa: F401


def grouped_query_attention(x, num_heads, num_kv_heads, weight_q, weight_k, weight_v, weight_o, mask=None):
    """Self-attention in which groups of query heads share one key and value head.

    Args:
        x: (batch, seq_len, d_model).
        num_heads: number of query heads; a d_model that it doesn't divide is a ValueError.
        num_kv_heads: number of key and value heads; a num_heads that it doesn't divide is a ValueError.
        weight_q, weight_o: (d_model, d_model), (out_features, in_features).
        weight_k, weight_v: (num_kv_heads * d_head, d_model) with d_head = d_model // num_heads.
        mask: boolean (seq_len, seq_len), or 4 axes that broadcast to (batch, num_heads, seq_len, seq_len),
            True = may attend; None = everything is visible.

    Returns:
        (batch, seq_len, d_model).
    """
    raise NotImplementedError
