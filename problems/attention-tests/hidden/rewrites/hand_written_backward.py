"""A custom autograd function with its own backward through softmax and both products, and a memo of open masks."""
# style: has a backward pass of its own, which gives None for what needs no gradient

import functools

import torch


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, value, mask, scale):
        scores = torch.where(mask, (query @ key.mT) * scale, torch.finfo(query.dtype).min)
        weights = torch.where(mask, torch.softmax(scores, -1), 0)
        ctx.save_for_backward(query, key, value, weights)
        ctx.scale = scale
        return weights @ value, weights

    @staticmethod
    def backward(ctx, grad_output, grad_weights):
        query, key, value, weights = ctx.saved_tensors
        to_query, to_key, to_value = ctx.needs_input_grad[:3]
        grad_weights = grad_weights + grad_output @ value.mT
        grad_scores = weights * (grad_weights - (weights * grad_weights).sum(-1, keepdim=True)) * ctx.scale
        return (
            grad_scores @ key if to_query else None,
            grad_scores.mT @ query if to_key else None,
            weights.mT @ grad_output if to_value else None,
            None,
            None,
        )


@functools.cache
def _open(device):
    return torch.ones((), dtype=torch.bool, device=device)


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    return _Attend.apply(query, key, value, _open(query.device) if mask is None else mask, scale)
