"""Normalization layers on PyTorch's own operations.

Sources: layer normalization, Ba, Kiros and Hinton 2016 (arXiv:1607.06450); RMS normalization, Zhang and Sennrich 2019
(arXiv:1910.07467); PyTorch's documentation of `layer_norm` and `rms_norm`.
"""

import torch.nn.functional as F


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    """Layer normalization of x (..., d) with gamma and beta (d,): biased variance over the last axis -> (..., d)."""
    return F.layer_norm(x, gamma.shape, gamma, beta, eps)


def rms_norm_forward(x, gamma, eps=1e-6):
    """RMS normalization of x (..., d) with gamma (d,): mean of the squares over the last axis -> (..., d)."""
    return F.rms_norm(x, gamma.shape, gamma, eps)
