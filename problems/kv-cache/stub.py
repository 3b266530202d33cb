"""Causal self-attention that keeps the keys and values of what it has read."""

import torch  # noqa: F401


def attend_with_cache(x, cache, num_heads, weight_q, weight_k, weight_v, weight_o):
    """Let new tokens attend to the past and to the new tokens up to themselves.

    Args:
        x: (batch, new_len, d_model), the new tokens.
        cache: None at the beginning of a sequence, then a tuple (keys, values) as it was returned,
            each (batch, num_heads, past_len, d_head).
        num_heads: number of heads; a d_model that it doesn't divide is a ValueError.
        weight_q, weight_k, weight_v, weight_o: (d_model, d_model), (out_features, in_features).

    Returns:
        A tuple: the output (batch, new_len, d_model), and the cache after these tokens, a tuple (keys, values),
        each (batch, num_heads, past_len + new_len, d_head).
    """
    raise NotImplementedError
