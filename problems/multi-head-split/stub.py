"""From tokens to heads and back."""

import torch  # noqa: F401


def split_heads(x, num_heads):
    """Cut each token's features into consecutive chunks, one for each head.

    Args:
        x: (batch, seq_len, d_model).
        num_heads: number of heads; a d_model that it doesn't divide is a ValueError.

    Returns:
        (batch, num_heads, seq_len, d_head) with d_head = d_model // num_heads.
    """
    raise NotImplementedError


def merge_heads(x):
    """Lay the heads of each token side by side again.

    Args:
        x: (batch, num_heads, seq_len, d_head), in any memory layout.

    Returns:
        (batch, seq_len, num_heads * d_head).
    """
    raise NotImplementedError
