"""Root mean square normalization (Zhang and Sennrich 2019, arXiv:1910.07467, section 4), with eps under the root."""

import torch


def rms_norm_forward(x, gamma, eps=1e-6):
    """Bring each token to a root mean square of one, then scale its features: x (..., d), gamma (d,) -> (..., d)."""
    axis = -1  # the features of one token; all other axes only count tokens
    mean_square = x.square().mean(dim=axis, keepdim=True)  # (..., 1), of x itself: no mean is taken away
    inverse = torch.rsqrt(mean_square + eps)  # (..., 1), finite also where every feature is 0, and so is its slope
    normalized = x * inverse  # (..., d)
    return normalized * gamma  # (..., d)
