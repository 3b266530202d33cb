"""Batch normalization (Ioffe and Szegedy 2015, arXiv:1502.03167, algorithms 1 and 2) and group normalization (Wu and He
2018, arXiv:1803.08494, equations 1 to 7), in PyTorch's conventions for the running values."""

import torch


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    """x (batch, channels) or (batch, channels, length), all others (channels,) -> (y, new mean, new variance)."""
    axes = (0,) if x.dim() == 2 else (0, 2)  # all but the channels
    per_channel = (1, -1) if x.dim() == 2 else (1, -1, 1)  # the shape in which (channels,) broadcasts against x
    if training:
        mean = x.mean(dim=axes)  # (channels,)
        # The mean goes first: E[x^2] - E[x]^2 would lose all digits where the mean is large.
        variance = (x - mean.reshape(per_channel)).square().mean(dim=axes)  # (channels,), biased
        count = x.numel() // x.shape[1]  # values per channel
        unbiased = variance * count / (count - 1)  # an estimate for data that is yet to come
        new_mean = (1 - momentum) * running_mean + momentum * mean.detach()
        new_var = (1 - momentum) * running_var + momentum * unbiased.detach()
    else:
        mean = running_mean
        variance = running_var
        new_mean = running_mean
        new_var = running_var
    centered = x - mean.reshape(per_channel)
    inverse = torch.rsqrt(variance + eps)  # (channels,)
    normalized = centered * inverse.reshape(per_channel)
    y = normalized * gamma.reshape(per_channel) + beta.reshape(per_channel)
    return y, new_mean, new_var


def group_norm_forward(x, num_groups, gamma, beta, eps=1e-5):
    """x (batch, channels, ...), gamma and beta (channels,) -> the shape of x."""
    batch, channels = x.shape[:2]
    if channels % num_groups != 0:
        raise ValueError(f"num_groups is {num_groups}, which doesn't divide the {channels} channels")
    groups = x.reshape(batch, num_groups, -1)  # a group is consecutive channels with all their positions
    axis = -1
    mean = groups.mean(dim=axis, keepdim=True)  # (batch, num_groups, 1)
    centered = groups - mean
    variance = centered.square().mean(dim=axis, keepdim=True)  # (batch, num_groups, 1), biased
    normalized = centered * torch.rsqrt(variance + eps)
    per_channel = (1, -1) + (1,) * (x.dim() - 2)
    return normalized.reshape(x.shape) * gamma.reshape(per_channel) + beta.reshape(per_channel)
