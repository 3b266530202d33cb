"""Style: one strip of booleans read with strides, gathered rows, everything broadcast at once; results are views."""

import torch

_CHECKED = {"low": 0}


def causal_mask(*args, **kwargs):
    return _causal(*args, **kwargs)


def _causal(q_len, k_len=None, offset=0):
    if k_len is None:
        k_len = q_len + offset
    size = max(q_len + offset, k_len)
    strip = torch.cat([torch.ones(size, dtype=torch.bool), torch.zeros(size, dtype=torch.bool)])
    # Row i begins one entry further left than row i - 1, so each row shows one more True.
    windows = strip.unfold(0, k_len, 1)
    starts = size - 1 - offset - torch.arange(q_len)
    return windows[starts]


def padding_mask(lengths, max_len):
    outside = torch.logical_or(lengths < _CHECKED["low"], lengths > max_len)
    if bool(outside.any()):
        raise ValueError(f"lengths out of range: {lengths[outside].tolist()}, allowed 0 .. {max_len}")
    table = torch.ones(max_len + 1, max_len, dtype=torch.uint8, device=lengths.device).tril(-1)
    return table.index_select(0, lengths.to(torch.int64)).bool()[:, None, None]


def combine_masks(*masks):
    present = tuple(mask for mask in masks if mask is not None)
    if not present:
        return None
    return torch.stack(torch.broadcast_tensors(*present), dim=-1).all(dim=-1)
