import math

import torch


def _up(t):
    return t.float() if t.dtype == torch.bfloat16 else t


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    num_channels = x.size(1)
    columns, means, variances = [], [], []
    for c in range(num_channels):
        values = _up(x[:, c])
        old_mean, old_var = _up(running_mean[c]), _up(running_var[c])
        if training:
            n = values.numel()
            m = values.sum() / n
            dev = values - m
            squares = (dev * dev).sum()
            spread = torch.sqrt(squares / n + eps)
            means.append((1 - momentum) * old_mean + momentum * m)
            variances.append((1 - momentum) * old_var + momentum * squares / (n - 1))
        else:
            dev = values - old_mean
            spread = old_var + eps
            means.append(old_mean)
            variances.append(old_var)
        columns.append(_up(gamma[c]) * (dev / spread) + _up(beta[c]))
    y = torch.stack(columns, dim=1).to(x.dtype)
    return y, torch.stack(means).to(x.dtype), torch.stack(variances).to(x.dtype)


def group_norm_forward(x, num_groups, gamma, beta, eps=1e-5):
    channels = x.size(1)
    if channels % num_groups != 0:
        raise ValueError(f"{channels} channels can't be divided into {num_groups} groups")
    size = channels // num_groups
    examples = []
    for b in range(x.size(0)):
        parts = []
        for g in range(num_groups):
            start = g * size
            chunk = _up(x[b, start:start + size])
            count = math.prod(chunk.shape)
            dev = chunk - chunk.sum() / count
            var = (dev * dev).sum() / count
            hat = dev / torch.sqrt(var + eps)
            for i in range(size):
                parts.append(_up(gamma[start + i]) * hat[i] + _up(beta[start + i]))
        examples.append(torch.stack(parts))
    return torch.stack(examples).to(x.dtype)
