"""torch.vmap of a function of one token, with einsum for the sums."""

import torch


def _one_row(row, gamma, beta, eps):
    share = torch.full_like(row, 1 / row.shape[0])
    deviations = row - torch.einsum("i,i->", row, share)
    variance = torch.einsum("i,i,i->", deviations, deviations, share)
    return gamma * (deviations * torch.reciprocal((variance + eps).sqrt())) + beta


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    mapped = torch.vmap(_one_row, in_dims=(0, None, None, None))
    return (
        mapped(x.reshape(-1, x.shape[-1]), gamma, beta, eps).unflatten(0, x.shape[:-1])
        if x.dim() > 1
        else _one_row(x, gamma, beta, eps)
    )
