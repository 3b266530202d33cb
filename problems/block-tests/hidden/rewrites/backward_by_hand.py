"""Norm, attention and GELU are autograd functions whose backward passes are derived on paper."""
# style: computes its gradients by formulas of its own, with another rounding

import math

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Standardize(Function):
    """(x - mean) / sqrt(variance + eps) of each token."""

    @staticmethod
    def forward(ctx, x, eps):
        centered = x - x.mean(-1, keepdim=True)
        inverse = 1 / torch.sqrt(centered.pow(2).mean(-1, keepdim=True) + eps)
        result = centered * inverse
        ctx.save_for_backward(result, inverse)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        result, inverse = ctx.saved_tensors
        along = (grad * result).mean(-1, keepdim=True)
        return (grad - grad.mean(-1, keepdim=True) - result * along) * inverse, None


class SelfAttend(Function):
    """softmax(heads @ heads.T / sqrt(d_head)) @ heads, (batch, num_heads, seq_len, d_head)."""

    @staticmethod
    def forward(ctx, heads, mask):
        scores = heads @ heads.mT / math.sqrt(heads.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.exp(scores - scores.amax(-1, keepdim=True))
        weights = weights / weights.sum(-1, keepdim=True)
        if mask is not None:
            weights = weights.where(mask, 0)
        ctx.save_for_backward(heads, weights)
        return weights @ heads

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        heads, weights = ctx.saved_tensors
        by_weights = grad @ heads.mT
        by_scores = weights * (by_weights - (weights * by_weights).sum(-1, keepdim=True)) / math.sqrt(heads.shape[-1])
        return weights.mT @ grad + (by_scores + by_scores.mT) @ heads, None


class Gelu(Function):
    """x times the normal distribution function; its derivative has the density."""

    @staticmethod
    def forward(ctx, x):
        share = (1 + torch.erf(x / math.sqrt(2))) / 2
        ctx.save_for_backward(x, share)
        return x * share

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, share = ctx.saved_tensors
        return grad * (share + x * torch.exp(-x * x / 2) / math.sqrt(2 * math.pi))


def attention(x, num_heads, weight_o, bias_o, mask):
    batch, seq_len, width = x.shape
    if width % num_heads:
        raise ValueError(f"{num_heads} heads on a width of {width}")
    heads = x.unfold(-1, width // num_heads, width // num_heads).transpose(1, 2)
    mixed = SelfAttend.apply(heads, mask)
    return torch.tensordot(mixed, weight_o.reshape(width, num_heads, -1), ([1, 3], [1, 2])) + bias_o


def feed_forward(x, weight1, bias1, weight2, bias2):
    hidden = Gelu.apply(torch.tensordot(x, weight1, ([-1], [1])) + bias1)
    return torch.tensordot(hidden, weight2, ([-1], [1])) + bias2


def pre_norm_transformer_block_forward(
    x,
    num_heads,
    weight_o,
    bias_o,
    ffn_weight1,
    ffn_bias1,
    ffn_weight2,
    ffn_bias2,
    gamma1,
    beta1,
    gamma2,
    beta2,
    mask=None,
    eps=1e-5,
):
    x = x + attention(Standardize.apply(x, eps) * gamma1 + beta1, num_heads, weight_o, bias_o, mask)
    normalized = Standardize.apply(x, eps) * gamma2 + beta2
    return x + feed_forward(normalized, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)


def post_norm_transformer_block_forward(
    x,
    num_heads,
    weight_o,
    bias_o,
    ffn_weight1,
    ffn_bias1,
    ffn_weight2,
    ffn_bias2,
    gamma1,
    beta1,
    gamma2,
    beta2,
    mask=None,
    eps=1e-5,
):
    x = Standardize.apply(x + attention(x, num_heads, weight_o, bias_o, mask), eps) * gamma1 + beta1
    x = x + feed_forward(x, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)
    return Standardize.apply(x, eps) * gamma2 + beta2


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks <= -1:
        raise ValueError(f"depth {num_blocks}")
    streams = [x]
    for _ in range(num_blocks):
        streams.append(pre_norm_transformer_block_forward(streams.pop(), num_heads, **block_params))
    return streams.pop()


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks <= -1:
        raise ValueError(f"depth {num_blocks}")
    streams = [x]
    for _ in range(num_blocks):
        streams.append(post_norm_transformer_block_forward(streams.pop(), num_heads, **block_params))
    return streams.pop()
