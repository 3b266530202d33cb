"""Float64 inside, in place on its own temporaries, any arguments passed through, one helper for every mean."""

import torch


def batch_norm_forward(x, *args, **kwargs):
    return _batch_norm(x, *args, **kwargs)


def _batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    work = torch.movedim(x, 1, -1).to(torch.float64, copy=True)  # channels last: everything broadcasts
    old = running_mean.double(), running_var.double()
    n = work[..., 0].numel()
    if training:
        mean = _mean(work)
        work -= mean
        variance = _mean(work * work)
        new = (
            old[0].mul(1 - momentum).add(mean, alpha=momentum),
            old[1].mul(1 - momentum).add(variance, alpha=momentum * n / (n - 1)),
        )
    else:
        work -= old[0]
        variance, new = old[1], old
    y = work * (gamma.double() / (variance + eps).sqrt())
    y += beta.double()
    return torch.movedim(y, -1, 1).to(x.dtype), *(value.to(x.dtype) for value in new)


def _mean(values):
    for _ in range(values.dim() - 1):
        values = values.mean(0)
    return values


def group_norm_forward(x, num_groups, gamma, beta, eps=1e-5):
    if x.shape[1] != num_groups * (x.shape[1] // num_groups):
        raise ValueError(f"num_groups={num_groups} does not divide {x.shape[1]}")
    groups = [part.flatten(1).double() for part in x.chunk(num_groups, dim=1)]
    means = [_mean(part.T) for part in groups]
    groups = [part - mean[:, None] for part, mean in zip(groups, means, strict=True)]
    groups = [part / (_mean(part.T**2)[:, None] + eps).sqrt() for part in groups]
    y = torch.cat([part.unflatten(1, (-1, *x.shape[2:])) for part in groups], dim=1)  # (batch, channels, ...)
    return (y.movedim(1, -1) * gamma.double() + beta.double()).movedim(-1, 1).to(x.dtype)
