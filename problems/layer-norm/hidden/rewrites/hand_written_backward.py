"""A custom autograd function with its own backward."""

import torch


class _LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gamma, beta, eps):
        deviations = x - x.mean(-1, keepdim=True)
        inverse = (deviations.pow(2).mean(-1, keepdim=True) + eps).rsqrt()
        normalized = deviations * inverse
        ctx.save_for_backward(normalized, inverse, gamma)
        return torch.addcmul(beta, normalized, gamma)

    @staticmethod
    def backward(ctx, grad):
        normalized, inverse, gamma = ctx.saved_tensors
        leading = tuple(range(grad.dim() - 1))
        through = grad * gamma
        along = (through * normalized).mean(-1, keepdim=True)
        grad_x = inverse * (through - through.mean(-1, keepdim=True) - normalized * along)
        grad_gamma = (grad * normalized).sum(leading) if leading else grad * normalized
        grad_beta = grad.sum(leading) if leading else grad
        return grad_x, grad_gamma, grad_beta, None


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    return _LayerNorm.apply(x, gamma, beta, eps)
