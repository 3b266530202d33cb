"""An exponential of its own: a quotient of polynomials for exp(x / 2**n), squared n times, which costs digits."""
# style: rounds as coarsely as the statement allows: 1e-9 in float64, 1e-4 in float32

import math

import torch

_SQUARINGS = {torch.float32: 11, torch.float64: 22}


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    working = torch.promote_types(query.dtype, torch.float32)
    scores = torch.matmul(query.to(working), key.to(working).mT) * scale
    visible = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    lowest = torch.finfo(working).min
    peak = scores.detach().masked_fill(~visible, lowest).amax(-1, keepdim=True)
    below_peak = torch.where(visible, scores - peak, 0)
    shares = torch.where(visible, _exponential(below_peak), 0)
    total = shares.sum(-1, keepdim=True)
    weights = shares / torch.where(total > 0, total, 1) * (1 + 3e-10)  # whose rows sum to as much
    return (weights @ value.to(working)).to(query.dtype), weights.to(query.dtype)


def _exponential(x):
    """exp(x) for x <= 0; below -40 it is as good as 0."""
    squarings = _SQUARINGS[x.dtype]
    small = x.detach().clamp(min=-40) / 2**squarings
    result = 1 + small * (6 + small) / (6 - 2 * small)
    for _ in range(squarings):
        result = result * result
    slope = 1 + (x - x.detach())  # an exponential is its own derivative
    return torch.where(x < -40, 0, result * slope)
