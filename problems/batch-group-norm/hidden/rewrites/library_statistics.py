"""torch.var_mean and addcmul; a NamedTuple as result, lerp for the running values, further optional arguments."""

from typing import NamedTuple

import torch


class Normalized(NamedTuple):
    y: torch.Tensor
    running_mean: torch.Tensor
    running_var: torch.Tensor


class UnevenGroupsError(ValueError):
    pass


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5, *, channel_axis=1):
    others = [axis for axis in range(x.dim()) if axis != channel_axis]
    spread = lambda values: values[(...,) + (None,) * (x.dim() - 2)]  # noqa: E731
    if not training:
        folded = gamma / (running_var + eps).sqrt()
        y = (x - spread(running_mean)) * spread(folded) + spread(beta)
        return Normalized(y, running_mean, running_var)
    variance, mean = torch.var_mean(x, others, correction=0)
    y = torch.addcmul(spread(beta), (x - spread(mean)) / spread((variance + eps).sqrt()), spread(gamma))
    with torch.no_grad():
        sample = x.var(others, correction=1)
        return Normalized(y, running_mean.lerp(mean, momentum), running_var.lerp(sample, momentum))


def group_norm_forward(x, num_groups, gamma, beta, eps=1e-5, channels_last=False):
    channels = x.size(1)
    if channels % num_groups:
        raise UnevenGroupsError(f"{channels} channels don't fall into {num_groups} groups")
    parts = x.unflatten(1, (num_groups, channels // num_groups))
    variance, mean = torch.var_mean(parts, tuple(range(2, parts.dim())), correction=0, keepdim=True)
    whole = ((parts - mean) / torch.sqrt(variance + eps)).flatten(1, 2)
    tail = (1,) * (x.dim() - 2)
    return torch.addcmul(beta.view(-1, *tail), whole, gamma.view(-1, *tail))
