"""Scaled dot-product attention with a boolean mask."""

import torch  # noqa: F401


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    """Let each query take a weighted mean of the values.

    Args:
        query: (..., q_len, d_k), any number of leading axes, also none.
        key: (..., k_len, d_k), the same leading axes.
        value: (..., k_len, d_v), the same leading axes.
        mask: boolean, broadcasts to (..., q_len, k_len), True = may attend; None = everything is visible.
        scale: number that multiplies the scores; None = 1 / sqrt(d_k).

    Returns:
        A tuple: the output (..., q_len, d_v) and the weights (..., q_len, k_len).
    """
    raise NotImplementedError
