"""Layer normalization (Ba, Kiros and Hinton 2016, arXiv:1607.06450, section 3), in PyTorch's convention for eps."""

import torch


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    """Normalize each token's features, then scale and shift them: x (..., d), gamma (d,), beta (d,) -> (..., d)."""
    axis = -1  # the features of one token; all other axes only count tokens
    mean = x.mean(dim=axis, keepdim=True)  # (..., 1)
    # The mean goes first: E[x^2] - E[x]^2 would be the difference of two huge numbers when the mean is large.
    centered = x - mean  # (..., d)
    variance = centered.square().mean(dim=axis, keepdim=True)  # (..., 1), biased: divided by d
    inverse = torch.rsqrt(variance + eps)  # (..., 1), finite also where the variance is 0
    normalized = centered * inverse  # (..., d)
    scaled = normalized * gamma  # (..., d)
    return scaled + beta  # (..., d)
