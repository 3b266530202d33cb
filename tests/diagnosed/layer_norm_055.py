import torch


def _upcast(t):
    return t if t.dtype == torch.float64 else t.to(torch.float32)


def _center(t):
    return t - t.mean(dim=-1, keepdim=True)


def _standardize(t, eps):
    c = _center(t)
    var = c.pow(2).mean(dim=-1, keepdim=True)
    return c / torch.sqrt(var + eps)


def _affine(t, gain, bias):
    return torch.addcmul(bias, t, gain)


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    t = _upcast(x)
    if x.shape[-1] > 1:
        t = _standardize(t, eps)
    return _affine(t, _upcast(gamma), _upcast(beta)).to(x.dtype)
