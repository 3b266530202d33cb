import torch

_DEFAULT_EPS = 1e-5
_UPCAST = {torch.bfloat16: torch.float32, torch.float16: torch.float32}


def _statistics(hidden, *, keepdim=True):
    mean = hidden.mean(dim=-1, keepdim=keepdim)
    variance = (hidden - mean).pow(2).mean(dim=-1, keepdim=keepdim)
    return mean, variance


def _normalize(hidden, *, eps=_DEFAULT_EPS):
    mean, variance = _statistics(hidden)
    return (hidden - mean) * torch.rsqrt(variance + eps)


def _forward(hidden, *, weight, bias, eps):
    return torch.addcmul(bias, weight, _normalize(hidden))


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    if x.dtype not in _UPCAST:
        return _forward(x, weight=gamma, bias=beta, eps=eps)
    compute_dtype = _UPCAST[x.dtype]
    output = _forward(x.to(compute_dtype), weight=gamma.to(compute_dtype), bias=beta.to(compute_dtype), eps=eps)
    return output.to(x.dtype)
