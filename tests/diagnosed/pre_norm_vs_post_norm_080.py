import torch
from torch import nn


def _layer_norm(x, gamma, beta, eps):
    centered = x - x.mean(dim=-1, keepdim=True)
    variance = centered.pow(2).mean(dim=-1, keepdim=True)
    return centered / (variance + eps).sqrt() * gamma + beta


def _attention(x, num_heads, weight_o, bias_o, mask):
    d_model = x.shape[-1]
    if d_model % num_heads:
        raise ValueError(f"a width of {d_model} is not divisible by {num_heads}")
    if mask is not None and mask.dim() == 2:
        mask = mask[None, None]
    heads = []
    for number, part in enumerate(x.split(d_model // num_heads, dim=-1)):
        scores = torch.einsum("bqd,bkd->bqk", part, part) / part.shape[-1] ** 0.5
        if mask is not None:
            head_mask = mask[:, number if mask.shape[1] > 1 else 0]
            scores = scores.masked_fill(~head_mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~head_mask, 0.0)
        heads.append(torch.einsum("bqk,bkd->bqd", weights, part))
    return nn.functional.linear(torch.cat(heads, dim=-1), weight_o, bias_o)


def _ffn(x, layers):
    (weight1, bias1), (weight2, bias2) = layers
    hidden = nn.functional.linear(x, weight1, bias1)
    return nn.functional.linear(nn.functional.gelu(hidden, approximate="none"), weight2, bias2)


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
    layers = ((ffn_weight1, ffn_bias1), (ffn_weight2, ffn_bias2))
    attended = _attention(_layer_norm(x, gamma1, beta1, eps), num_heads, weight_o, bias_o, mask)
    x = x + attended
    return x + _ffn(_layer_norm(x, gamma2, beta2, eps), layers)


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
    layers = ((ffn_weight1, ffn_bias1), (ffn_weight2, ffn_bias2))
    attended = _attention(x, num_heads, weight_o, bias_o, mask)
    x = _layer_norm(x + attended, gamma1, beta1, eps)
    return _layer_norm(x + _ffn(x, layers), gamma2, beta2, eps)


def _check(x, num_heads, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"num_blocks must not be negative: {num_blocks}")
    if x.shape[-1] % num_heads:
        raise ValueError(f"a width of {x.shape[-1]} is not divisible by {num_heads}")


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    _check(x, num_heads, num_blocks)
    if num_blocks == 0:
        return x
    out = 0
    for _ in range(num_blocks):
        out = out + pre_norm_transformer_block_forward(x, num_heads, **block_params)
    return out


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    _check(x, num_heads, num_blocks)
    if num_blocks == 0:
        return x
    out = 0
    for _ in range(num_blocks):
        out = out + post_norm_transformer_block_forward(x, num_heads, **block_params)
    return out
