import math

import torch
import torch.nn.functional as F


def norm(x, gamma, beta, eps):
    mu = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    return (x - mu) / torch.sqrt(var + eps) * gamma + beta


def attention(x, num_heads, weight_o, bias_o, mask):
    b, t, d = x.shape
    if d % num_heads:
        raise ValueError(f"num_heads {num_heads} must divide d_model {d}")
    hd = d // num_heads
    q = k = v = x.reshape(b, t, num_heads, hd).permute(0, 2, 1, 3)
    scores = q @ k.transpose(-1, -2) / math.sqrt(hd)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0)  # rows that see nothing -> zeros
    out = (weights @ v).permute(0, 2, 1, 3).reshape(b, t, d)
    return out @ weight_o.T + bias_o


def ffn(x, w1, b1, w2, b2):
    return F.gelu(x @ w1.T + b1) @ w2.T + b2


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
    # sublayer 1
    x = norm(x, gamma1, beta1, eps)
    x = x + attention(x, num_heads, weight_o, bias_o, mask)
    # sublayer 2
    x = norm(x, gamma2, beta2, eps)
    return x + ffn(x, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)


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
    # sublayer 1
    x = x + attention(x, num_heads, weight_o, bias_o, mask)
    x = norm(x, gamma1, beta1, eps)
    # sublayer 2
    x = x + ffn(x, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)
    return norm(x, gamma2, beta2, eps)


def stack(block, x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"num_blocks can't be negative: {num_blocks}")
    for _ in range(num_blocks):
        x = block(x, num_heads, **block_params)
    return x


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    return stack(pre_norm_transformer_block_forward, x, num_heads, block_params, num_blocks)


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    return stack(post_norm_transformer_block_forward, x, num_heads, block_params, num_blocks)
