"""Masks for attention: boolean, True = may attend.

The causal mask and the padding mask are those of Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.3; the offset is
the number of tokens in front of the queries, as in decoding with a cache.
"""

import torch


def causal_mask(q_len, k_len=None, offset=0):
    if k_len is None:
        k_len = q_len + offset
    queries = torch.arange(q_len) + offset  # (q_len,), positions in the whole sequence
    keys = torch.arange(k_len)  # (k_len,)
    return keys <= queries.unsqueeze(-1)  # (q_len, k_len)


def padding_mask(lengths, max_len):
    for length in lengths.tolist():
        if length < 0 or length > max_len:
            raise ValueError(f"length {length} is not between 0 and max_len, {max_len}; pad to the longest sequence")
    keys = torch.arange(max_len, device=lengths.device)  # (max_len,)
    visible = keys < lengths.unsqueeze(-1)  # (batch, max_len)
    # The two axes of size 1 stand for the heads and the queries: padding is a property of the keys alone.
    return visible[:, None, None, :]  # (batch, 1, 1, max_len)


def combine_masks(*masks):
    given = [mask for mask in masks if mask is not None]
    if not given:
        return None
    combined = given[0]
    for mask in given[1:]:
        combined = combined & mask  # a new tensor of the broadcast shape
    return combined
