"""Style: the textbook's layout, tokens as columns, (batch, d_model, seq_len); the results are transposed views."""

import math

import torch


def layer_norm(columns, gamma, beta, eps):
    columns = columns - columns.mean(dim=1, keepdim=True)
    length = torch.linalg.vector_norm(columns, dim=1, keepdim=True)
    return columns / torch.sqrt(length**2 / columns.shape[1] + eps) * gamma[:, None] + beta[:, None]


def self_attention(columns, num_heads, weight_o, bias_o, mask):
    batch, width, tokens = columns.shape
    if width % num_heads != 0:
        raise ValueError(f"{num_heads} heads for {width} features: expected a divisor of {width}")
    heads = columns.reshape(batch, num_heads, width // num_heads, tokens)
    scores = heads.mT @ heads / math.sqrt(width // num_heads)  # (batch, num_heads, query, key)
    if mask is not None:
        scores = scores + torch.where(mask, 0.0, -1e30).to(scores.dtype)
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    if mask is not None:
        weights = weights * mask.any(dim=-1, keepdim=True)
    mixed = heads @ weights.mT  # (batch, num_heads, d_head, query)
    return weight_o @ mixed.reshape(batch, width, tokens) + bias_o[:, None]


def mlp(columns, weight1, bias1, weight2, bias2):
    hidden = weight1 @ columns + bias1[:, None]
    gate = 0.5 * torch.erfc(-hidden / math.sqrt(2))
    return weight2 @ (hidden * gate) + bias2[:, None]


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
    columns = x.mT
    columns = columns + self_attention(layer_norm(columns, gamma1, beta1, eps), num_heads, weight_o, bias_o, mask)
    columns = columns + mlp(layer_norm(columns, gamma2, beta2, eps), ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)
    return columns.mT


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
    columns = x.mT
    columns = layer_norm(columns + self_attention(columns, num_heads, weight_o, bias_o, mask), gamma1, beta1, eps)
    columns = layer_norm(columns + mlp(columns, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2), gamma2, beta2, eps)
    return columns.mT


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"{num_blocks} blocks")
    if num_blocks == 0:
        return x
    below = stack_pre_norm_blocks(x, num_heads, block_params, num_blocks - 1)
    return pre_norm_transformer_block_forward(below, num_heads, **block_params)


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"{num_blocks} blocks")
    if num_blocks == 0:
        return x
    below = stack_post_norm_blocks(x, num_heads, block_params, num_blocks - 1)
    return post_norm_transformer_block_forward(below, num_heads, **block_params)
