"""GELU by a sine series for erf, with as many terms as the dtype is promised digits; results are rounded once more."""
# style: is rounded by up to 1e-9 in float64 and 1e-4 in float32, as a correct implementation may be

import math

import torch


def erf(x):
    """2 / pi * (x / 5 + the sum of exp(-n * n / 25) * sin(2 * n * x / 5) / n); beyond 5 it is 1. Its slope is exact."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    terms = 22 if wide.dtype == torch.float64 else 13
    fixed = wide.detach()
    inside = fixed.clamp(-5, 5)
    series = inside / 5
    for n in range(1, terms + 1):
        series = series + math.exp(-n * n / 25) / n * torch.sin(2 * n / 5 * inside)
    value = torch.where(fixed.abs() < 5, 2 / math.pi * series, fixed.sign())
    slope = 2 / math.sqrt(math.pi) * torch.exp(-fixed.square())
    return (value + slope * (wide - fixed)).to(x.dtype)


def rounded(x):
    """x to 45 bits in float64: off by up to 1.5e-14. Its slope is 1."""
    if x.dtype != torch.float64:
        return x
    spread = x * (2**8 + 1)
    return spread - (spread - x)  # T. Dekker 1971: the upper part of a number, by its low bits that get lost


def gelu(x):
    return x * (1 + erf(x * 0.5**0.5)) / 2


def layer_norm(x, gamma, beta, eps):
    centered = x - x.mean(dim=-1, keepdim=True)
    return torch.addcmul(beta, centered, gamma * (centered.square().mean(dim=-1, keepdim=True) + eps).rsqrt())


def attention(x, num_heads, weight_o, bias_o, mask):
    if x.shape[-1] % num_heads != 0:
        raise ValueError(f"the width {x.shape[-1]} has no {num_heads} equal parts")
    tokens = x.view(*x.shape) if x.is_contiguous() else x.contiguous()
    heads = tokens.view(*x.shape[:2], num_heads, -1).permute(0, 2, 1, 3)
    scores = torch.matmul(heads, heads.permute(0, 1, 3, 2)).div(heads.shape[-1] ** 0.5)
    if mask is None:
        weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    else:
        scores = scores + torch.where(mask, 0.0, -1e30).to(x.dtype)
        weights = (scores - scores.logsumexp(-1, keepdim=True)).exp().masked_fill(~mask, 0.0)
    return torch.matmul(weights.matmul(heads).permute(0, 2, 1, 3).flatten(2), weight_o.t()) + bias_o


def _pre_norm_block(
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
    x = x + attention(layer_norm(x, gamma1, beta1, eps), num_heads, weight_o, bias_o, mask)
    hidden = gelu(torch.matmul(layer_norm(x, gamma2, beta2, eps), ffn_weight1.t()) + ffn_bias1)
    return x + (torch.matmul(hidden, ffn_weight2.t()) + ffn_bias2)


def _post_norm_block(
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
    x = layer_norm(x + attention(x, num_heads, weight_o, bias_o, mask), gamma1, beta1, eps)
    hidden = gelu(torch.matmul(x, ffn_weight1.t()) + ffn_bias1)
    return layer_norm(x + (torch.matmul(hidden, ffn_weight2.t()) + ffn_bias2), gamma2, beta2, eps)


def pre_norm_transformer_block_forward(*args, **kwargs):
    return rounded(_pre_norm_block(*args, **kwargs))


def post_norm_transformer_block_forward(*args, **kwargs):
    return rounded(_post_norm_block(*args, **kwargs))


def _depths(num_blocks):
    if num_blocks < 0:
        raise ValueError(f"no stack has {num_blocks} blocks")
    return range(num_blocks)


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    for _ in _depths(num_blocks):
        x = _pre_norm_block(x, num_heads, **block_params)
    return rounded(x) if num_blocks else x


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    for _ in _depths(num_blocks):
        x = _post_norm_block(x, num_heads, **block_params)
    return rounded(x) if num_blocks else x
