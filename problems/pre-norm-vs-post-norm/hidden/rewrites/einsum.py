"""Style: Einstein sums for every product, a mask of -inf with a guard for empty rows, and a copy for zero blocks."""

import torch
from torch import einsum


def norm(x, gamma, beta, eps):
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return (x - mean) / (variance + eps).sqrt() * gamma + beta


def attend(x, num_heads, weight_o, bias_o, mask):
    width = x.size(-1)
    d_head, rest = divmod(width, num_heads)
    if rest:
        raise ValueError(f"a width of {width} can't be cut into {num_heads} heads")
    heads = x.unflatten(-1, (num_heads, d_head))  # (batch, seq_len, num_heads, d_head)
    scores = einsum("bqhd,bkhd->bhqk", heads * d_head**-0.5, heads)
    if mask is not None:
        seen = mask.any(dim=-1, keepdim=True)
        scores = torch.where(mask, scores, float("-inf"))
        scores = torch.where(seen, scores, 0.0)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = torch.where(seen, weights, 0.0)
    mixed = einsum("bhqk,bkhd->bqhd", weights, heads)
    return einsum("bqhd,ohd->bqo", mixed, weight_o.unflatten(-1, (num_heads, d_head))) + bias_o


def feed(x, weight1, bias1, weight2, bias2):
    hidden = einsum("btd,fd->btf", x, weight1) + bias1
    activated = hidden * (1 + torch.erf(hidden * 0.5**0.5)) / 2
    return einsum("btf,df->btd", activated, weight2) + bias2


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
    x = x + attend(norm(x, gamma1, beta1, eps), num_heads, weight_o, bias_o, mask)
    return x + feed(norm(x, gamma2, beta2, eps), ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)


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
    x = norm(x + attend(x, num_heads, weight_o, bias_o, mask), gamma1, beta1, eps)
    return norm(x + feed(x, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2), gamma2, beta2, eps)


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"can't stack {num_blocks} blocks")
    out = x.clone()
    while num_blocks:
        out = pre_norm_transformer_block_forward(out, num_heads, **block_params)
        num_blocks -= 1
    return out


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"can't stack {num_blocks} blocks")
    out = x.clone()
    while num_blocks:
        out = post_norm_transformer_block_forward(out, num_heads, **block_params)
        num_blocks -= 1
    return out
