import torch


def _working_dtype(x):
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def _per_channel(v, x):
    return v.reshape((1, -1) + (1,) * (x.dim() - 2))


def _standardize(x, mean, var, eps):
    return (x - mean) * torch.rsqrt(var + eps)


def _mix(old, new, momentum):
    return (1 - momentum) * old + momentum * new


def _affine(x, gamma, beta):
    return x * _per_channel(gamma, x) + _per_channel(beta, x)


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    dtype = _working_dtype(x)
    wide, g, b = x.to(dtype), gamma.to(dtype), beta.to(dtype)
    if training:
        axes = [a for a in range(x.dim()) if a != 1]
        n = x.numel() // x.shape[1]
        mean = wide.mean(dim=axes)
        centred = wide - _per_channel(mean, wide)
        var = centred.square().mean(dim=axes)
        new_mean = _mix(running_mean.to(dtype), mean, momentum).to(x.dtype)
        new_var = _mix(running_var.to(dtype), var * (n / (n - 1)), momentum).to(x.dtype)
    else:
        mean, var = running_mean.to(dtype), running_var.to(dtype)
        new_mean, new_var = running_mean.clone(), running_var.clone()
    y = _affine(_standardize(wide, _per_channel(mean, wide), _per_channel(var, wide), eps), g, b)
    return y.to(x.dtype), new_mean, new_var


def group_norm_forward(x, num_groups, gamma, beta, eps=1e-5):
    if num_groups < 1 or x.shape[1] % num_groups:
        raise ValueError(f"num_groups {num_groups} does not divide {x.shape[1]} channels")
    wide = x.to(torch.float32)
    g, b = gamma.to(wide.dtype), beta.to(wide.dtype)
    groups = wide.reshape(x.shape[0], num_groups, -1)
    mean = groups.mean(dim=-1, keepdim=True)
    var = (groups - mean).square().mean(dim=-1, keepdim=True)
    normed = _standardize(groups, mean, var, eps).reshape(x.shape)
    return _affine(normed, g, b).to(x.dtype)
