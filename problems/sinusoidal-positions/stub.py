"""Sinusoidal positions: a table of sines and cosines that tells tokens where they stand."""

import torch


def sinusoidal_positions(seq_len, d_model, offset=0, base=10000.0, dtype=torch.float32):
    """Give the position vectors of seq_len consecutive positions.

    Args:
        seq_len: number of positions, the first of which is ``offset``.
        d_model: width of a position vector; a ValueError if it is odd.
        offset: the first row's position, 0 or more.
        base: the ratio that the wavelengths grow by.
        dtype: the dtype of the result.

    Returns:
        (seq_len, d_model): sines in the even columns, cosines in the odd ones.
    """
    raise NotImplementedError


def add_positions(x, offset=0):
    """Add to each token the vector of its position.

    Args:
        x: (batch, seq_len, d_model); a ValueError if d_model is odd.
        offset: the position of each sequence's first token, 0 or more.

    Returns:
        (batch, seq_len, d_model), in the dtype of x.
    """
    raise NotImplementedError
