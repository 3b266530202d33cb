"""Style: triangular matrices, scatter and cumulative sums, logical_and on a copy in place."""

import torch


def causal_mask(q_len, k_len=None, offset=0, *, device=None):
    width = q_len + offset if k_len is None else k_len
    return torch.ones((q_len, width), dtype=torch.bool, device=device).tril(diagonal=offset)


def padding_mask(lengths, max_len):
    if lengths.min() < 0:
        raise ValueError(f"negative length in {lengths.tolist()}")
    if lengths.max() > max_len:
        raise ValueError(f"a length in {lengths.tolist()} exceeds {max_len}")
    ends = torch.zeros(len(lengths), max_len + 1, dtype=torch.int64, device=lengths.device)
    ends.scatter_(1, lengths.long().unsqueeze(1), 1)
    return ends.cumsum(1)[:, :max_len].eq(0).view(-1, 1, 1, max_len)


def combine_masks(*masks):
    result = None
    for mask in masks:
        if mask is not None and result is None:
            result = mask.clone()
        elif mask is not None:
            shape = torch.broadcast_shapes(result.shape, mask.shape)
            result = result.expand(shape).clone()
            result.logical_and_(mask)
    return result
