"""Library statistics: torch.var_mean with correction 0, a division, addcmul; a further keyword-only argument."""

import torch


def layer_norm_forward(x, gamma, beta, eps=1e-5, *, axis=-1):
    variance, mean = torch.var_mean(x, dim=axis, correction=0, keepdim=True)
    return torch.addcmul(beta, (x - mean) / torch.sqrt(variance + eps), gamma)
