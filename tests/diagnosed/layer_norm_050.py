import torch


def upcast(t):
    return t.float() if t.dtype == torch.bfloat16 else t


def centre(t):
    return t - t.mean(-1, keepdim=True)


def mean_square(t):
    return t.square().mean(-1, keepdim=True)


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    c = centre(upcast(x))
    return upcast(gamma) * c / torch.sqrt(mean_square(c) + eps) + upcast(beta)
