"""Masks for attention: boolean, True = may attend."""

import torch  # noqa: F401


def causal_mask(q_len, k_len=None, offset=0):
    """Let each query see the keys up to its own position.

    Args:
        q_len: number of queries; the first one stands at position ``offset``.
        k_len: number of keys, which stand at positions 0, 1, ...; None = q_len + offset.
        offset: number of positions before the first query, 0 or more.

    Returns:
        bool (q_len, k_len), True where key j <= i + offset.
    """
    raise NotImplementedError


def padding_mask(lengths, max_len):
    """Let every query of a sequence see the sequence's tokens and not its padding.

    Args:
        lengths: int32 or int64 (batch,), each from 0 to max_len; any other length is a ValueError.
        max_len: the length to which all sequences are padded, behind their end.

    Returns:
        bool (batch, 1, 1, max_len).
    """
    raise NotImplementedError


def combine_masks(*masks):
    """Allow what every mask allows.

    Args:
        masks: boolean tensors whose shapes broadcast, or None, which is skipped.

    Returns:
        bool of the broadcast shape, or None if there is no mask among the arguments.
    """
    raise NotImplementedError
