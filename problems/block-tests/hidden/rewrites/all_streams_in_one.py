"""PyTorch's own operations; a stack keeps the streams of all depths in one tensor and gives the last slice of it."""
# style: gives a slice of a larger tensor of its own

import torch
import torch.nn.functional as F


def attention(x, num_heads, weight_o, bias_o, mask):
    d_head, left_over = divmod(x.shape[-1], num_heads)
    if left_over:
        raise ValueError(f"num_heads={num_heads} leaves {left_over} features over")
    heads = x.unflatten(-1, (num_heads, d_head)).movedim(-2, -3)
    mixed = F.scaled_dot_product_attention(heads, heads, heads, attn_mask=mask)
    return F.linear(mixed.movedim(-3, -2).flatten(-2), weight_o, bias_o)


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
    width = x.shape[-1:]
    x = x + attention(F.layer_norm(x, width, gamma1, beta1, eps), num_heads, weight_o, bias_o, mask)
    hidden = F.gelu(F.linear(F.layer_norm(x, width, gamma2, beta2, eps), ffn_weight1, ffn_bias1))
    return x + F.linear(hidden, ffn_weight2, ffn_bias2)


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
    width = x.shape[-1:]
    x = F.layer_norm(x + attention(x, num_heads, weight_o, bias_o, mask), width, gamma1, beta1, eps)
    hidden = F.gelu(F.linear(x, ffn_weight1, ffn_bias1))
    return F.layer_norm(x + F.linear(hidden, ffn_weight2, ffn_bias2), width, gamma2, beta2, eps)


def stack(block, x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"num_blocks={num_blocks} is negative")
    streams = [x]
    while len(streams) <= num_blocks:
        streams.append(block(streams[-1], num_heads, **block_params))
    return torch.stack(streams, dim=-1)[..., -1]  # every (num_blocks + 1)-th element of the whole


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    return stack(pre_norm_transformer_block_forward, x, num_heads, block_params, num_blocks)


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    return stack(post_norm_transformer_block_forward, x, num_heads, block_params, num_blocks)
