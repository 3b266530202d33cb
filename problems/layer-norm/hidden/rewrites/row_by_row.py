"""Plain loops: one token at a time, and sums instead of means."""

import torch


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1])
    return torch.stack([_normalize(row, eps) * gamma + beta for row in rows]).view(x.shape)


def _normalize(row, eps):
    deviations = row - row.sum() / row.numel()
    return deviations * (deviations.dot(deviations) / row.numel() + eps) ** -0.5
