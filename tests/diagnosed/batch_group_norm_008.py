import torch


def widen(*tensors):
    return tuple(t.to(torch.promote_types(t.dtype, torch.float32)) for t in tensors)


def moments(t, dims):
    mean = torch.mean(t, dim=dims, keepdim=True)
    return mean, torch.var(t - mean, dim=dims, correction=0, keepdim=True)


def channel_shape(t):
    return [1, t.shape[1]] + [1] * (t.ndim - 2)


def normalize(t, mean, var, eps):
    return (t - mean) / (var + eps).sqrt()


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    shape = channel_shape(x)
    t, g, b, old_mean, old_var = widen(x, gamma, beta, running_mean, running_var)
    mean, var = old_mean.reshape(shape), old_var.reshape(shape)
    if training:
        count = t.numel() / t.shape[1]
        mean, var = moments(t, tuple(d for d in range(t.ndim) if d != 1))
        old_mean = (1 - momentum) * old_mean + momentum * mean.flatten()
        old_var = (1 - momentum) * old_var + momentum * var.flatten() * count / (count - 1)
    y = normalize(t, mean, var, eps) * g.reshape(shape) + b.reshape(shape)
    return y.to(x.dtype), old_mean.to(torch.float32), old_var.to(torch.float32)


def group_norm_forward(x, num_groups, gamma, beta, eps=1e-5):
    if x.shape[1] % num_groups != 0:
        raise ValueError(f"cannot cut {x.shape[1]} channels into num_groups={num_groups}")
    t, g, b = widen(x, gamma, beta)
    split = t.unflatten(1, (num_groups, x.shape[1] // num_groups))
    mean, var = moments(split, tuple(range(2, split.ndim)))
    flat = normalize(split, mean, var, eps).flatten(1, 2)
    shape = channel_shape(x)
    return (flat * g.reshape(shape) + b.reshape(shape)).to(x.dtype)
