"""Normalization layers on PyTorch's own operations.

Sources: layer normalization, Ba, Kiros and Hinton 2016 (arXiv:1607.06450); RMS normalization, Zhang and Sennrich 2019
(arXiv:1910.07467); batch normalization, Ioffe and Szegedy 2015 (arXiv:1502.03167); group normalization, Wu and He 2018
(arXiv:1803.08494); PyTorch's documentation of `layer_norm`, `rms_norm`, `batch_norm` and `group_norm`.
"""

import torch
import torch.nn.functional as F


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    """Layer normalization of x (..., d) with gamma and beta (d,): biased variance over the last axis -> (..., d)."""
    return F.layer_norm(x, gamma.shape, gamma, beta, eps)


def rms_norm_forward(x, gamma, eps=1e-6):
    """RMS normalization of x (..., d) with gamma (d,): mean of the squares over the last axis -> (..., d)."""
    return F.rms_norm(x, gamma.shape, gamma, eps)


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    """Batch normalization of x (batch, channels[, length]) -> (y, new running mean, new running variance).

    In training it is `batch_norm` on copies of the running values, which that function overwrites. In evaluation
    `batch_norm` gives no gradient to the running values; a convolution with one filter of size 1 per channel does.
    """
    if training:
        new_mean, new_var = running_mean.detach().clone(), running_var.detach().clone()
        return F.batch_norm(x, new_mean, new_var, gamma, beta, True, momentum, eps), new_mean, new_var
    gain = gamma / torch.sqrt(running_var + eps)
    columns = x if x.dim() == 3 else x.unsqueeze(-1)  # (batch, channels, length)
    y = F.conv1d(columns, gain[:, None, None], beta - gain * running_mean, groups=len(gain))
    return y.reshape(x.shape), running_mean, running_var


def group_norm_forward(x, num_groups, gamma, beta, eps=1e-5):
    """Group normalization of x (batch, channels, ...) with gamma and beta (channels,) -> the shape of x.

    ValueError where ``num_groups`` does not divide the channels. `torch.group_norm`, because `F.group_norm` refuses a
    single example whose groups are single values.
    """
    if x.shape[1] % num_groups:
        raise ValueError(f"num_groups {num_groups} does not divide {x.shape[1]} channels")
    return torch.group_norm(x, num_groups, gamma, beta, eps)
