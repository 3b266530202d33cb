"""Multi-head attention as a function of its weights."""

import torch  # noqa: F401


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
    """Project, split into heads, attend in each, merge, project.

    Args:
        query: (batch, q_len, d_model).
        key, value: (batch, k_len, d_key); d_key may differ from d_model.
        num_heads: number of heads; a d_model that it doesn't divide is a ValueError.
        weight_q, weight_o: (d_model, d_model), (out_features, in_features).
        weight_k, weight_v: (d_model, d_key).
        bias_q, bias_k, bias_v, bias_o: (d_model,), or None; each may be given alone.
        mask: boolean (q_len, k_len), or 4 axes that broadcast to (batch, num_heads, q_len, k_len),
            True = may attend; None = everything is visible.

    Returns:
        (batch, q_len, d_model).
    """
    raise NotImplementedError
