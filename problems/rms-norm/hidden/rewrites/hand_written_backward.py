"""A custom autograd function with its own backward, behind a callable that takes further arguments."""

import torch


class _RMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gamma, eps):
        inverse = (x.pow(2).mean(-1, keepdim=True) + eps).pow(-0.5)
        ctx.save_for_backward(x, gamma, inverse)
        return x * inverse * gamma

    @staticmethod
    def backward(ctx, grad):
        x, gamma, inverse = ctx.saved_tensors
        through = grad * gamma
        along = (through * x).mean(-1, keepdim=True)
        grad_x = inverse * through - inverse**3 * along * x
        grad_gamma = (grad * x * inverse).reshape(-1, x.shape[-1]).sum(0)
        return grad_x, grad_gamma, None


def rms_norm_forward(x, gamma, eps=1e-6, *unused, **options):
    return _RMSNorm.apply(x, gamma, eps)
