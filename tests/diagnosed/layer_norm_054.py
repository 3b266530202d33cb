import torch
from torch import einsum


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    dtype = torch.promote_types(x.dtype, torch.float32)
    tokens, gain, bias = (t.to(dtype) for t in (x, gamma, beta))
    d = tokens.size(-1)

    mean = einsum("...d->...", tokens) / d
    centred = tokens - mean[..., None]
    var = einsum("...d,...d->...", centred, centred) / d
    inverse = torch.rsqrt(var + eps)

    normalized = einsum("...d,...->...d", centred, inverse)
    scaled = einsum("...d,->...d", normalized, gain[0])
    return (scaled + bias).to(x.dtype)
