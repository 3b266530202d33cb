"""Masks for attention by other means: triangular matrices, padded sequences, reductions.

Sources: Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.3; PyTorch's documentation of
`scaled_dot_product_attention`, whose boolean masks have the same meaning: True = may attend.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence


def causal_mask(q_len: int, k_len: int | None = None, offset: int = 0) -> Tensor:
    """Which keys come no later than each query: bool (q_len, k_len), the first query at position ``offset``."""
    width = q_len + offset if k_len is None else k_len
    return torch.ones(q_len, width, dtype=torch.bool).tril(offset)


def padding_mask(lengths: Tensor, max_len: int) -> Tensor:
    """Which keys are tokens: lengths (batch,) gives bool (batch, 1, 1, max_len); ValueError beyond 0 to max_len."""
    sizes = [int(length) for length in lengths]
    if not 0 <= min(sizes) <= max(sizes) <= max_len:
        raise ValueError(f"lengths {sizes} must be between 0 and max_len, {max_len}")
    tokens = [torch.ones(size, dtype=torch.bool, device=lengths.device) for size in sizes]
    rows = pad_sequence(tokens, batch_first=True)  # (batch, longest)
    return pad(rows, (0, max_len - rows.shape[1]))[:, None, None, :]


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    """What all masks allow, of their broadcast shape; None where there is none."""
    given = [mask for mask in masks if mask is not None]
    return torch.stack(torch.broadcast_tensors(*given)).all(dim=0) if given else None
