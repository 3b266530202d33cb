"""Attention goes through the keys one by one and keeps a running maximum, sum and mixture; every step in x's dtype."""
# style: sums in another order, key by key, and rounds after every step

import math

import torch


def layer_norm(x, gamma, beta, eps):
    first = x[..., :1]  # a shift, so that little is left to round
    shifted = x - first
    centered = shifted - shifted.sum(-1, keepdim=True) / x.size(-1)
    length = torch.linalg.vector_norm(centered, dim=-1, keepdim=True) / math.sqrt(x.size(-1))
    return centered / torch.hypot(length, torch.full_like(length, math.sqrt(eps))) * gamma + beta


def one_head(tokens, allowed):
    """tokens: (batch, seq_len, d_head), allowed: (batch, seq_len, seq_len) or None."""
    queries = tokens * tokens.size(-1) ** -0.5
    highest = tokens.new_full(tokens.shape[:2], -torch.finfo(tokens.dtype).max)
    total = tokens.new_zeros(tokens.shape[:2])
    mixture = torch.zeros_like(tokens)
    for j in reversed(range(tokens.size(1))):
        score = (queries * tokens[:, j : j + 1]).sum(-1)
        visible = torch.ones_like(score, dtype=torch.bool) if allowed is None else allowed[..., j]
        new_highest = torch.maximum(highest, score.detach()).where(visible, highest)
        shrink = torch.exp(highest - new_highest)
        share = torch.exp((score - new_highest).where(visible, 0)) * visible
        total = total * shrink + share
        mixture = mixture * shrink[..., None] + share[..., None] * tokens[:, j : j + 1]
        highest = new_highest
    return mixture / total.where(total > 0, 1)[..., None]


def attention(x, num_heads, weight_o, bias_o, mask):
    batch, seq_len, width = x.shape
    if width % num_heads:
        raise ValueError(f"heads: {num_heads}, features: {width}")
    if mask is not None:
        mask = mask.expand(batch, num_heads, seq_len, seq_len)
    size = width // num_heads
    output = bias_o.expand_as(x)
    for h in range(num_heads):
        features = slice(h * size, (h + 1) * size)
        mixed = one_head(x[..., features], None if mask is None else mask[:, h])
        output = output + mixed @ weight_o[:, features].T
    return output


def feed_forward(x, weight1, bias1, weight2, bias2):
    hidden = x @ weight1.T + bias1
    hidden = hidden / 2 * torch.erfc(-hidden / math.sqrt(2))
    return hidden @ weight2.T + bias2


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
    x = attention(layer_norm(x, gamma1, beta1, eps), num_heads, weight_o, bias_o, mask) + x
    return feed_forward(layer_norm(x, gamma2, beta2, eps), ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2) + x


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
    x = layer_norm(attention(x, num_heads, weight_o, bias_o, mask) + x, gamma1, beta1, eps)
    return layer_norm(feed_forward(x, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2) + x, gamma2, beta2, eps)


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"{num_blocks} < 0")
    for _ in range(num_blocks):
        x = pre_norm_transformer_block_forward(x, num_heads, **block_params)
    return x


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"{num_blocks} < 0")
    for _ in range(num_blocks):
        x = post_norm_transformer_block_forward(x, num_heads, **block_params)
    return x
