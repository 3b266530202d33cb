"""Rotary positions: queries and keys are turned by their position, so that their products see distances."""

import torch  # noqa: F401


def rotary_angles(positions, d_head, base=10000.0):
    """Give the angle of every position and pair of features.

    Args:
        positions: (seq_len,), integers from 0 on, in any order.
        d_head: width of a head; a ValueError if it is odd.
        base: the ratio that the wavelengths grow by.

    Returns:
        (seq_len, d_head // 2), float64.
    """
    raise NotImplementedError


def apply_rotary(x, positions, base=10000.0):
    """Turn each pair of features, one from either half, by the angle of its token's position.

    Args:
        x: (..., seq_len, d_head), any number of leading axes, also none; a ValueError if d_head is odd.
        positions: (seq_len,), integers from 0 on, in any order.
        base: the ratio that the wavelengths grow by.

    Returns:
        A tensor of the shape and dtype of x.
    """
    raise NotImplementedError
