import math

import torch
import torch.nn.functional as F


def attention(x, num_heads, weight_o, bias_o, mask):
    batch, seq_len, d_model = x.shape
    if d_model % num_heads != 0:
        raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
    d_head = d_model // num_heads
    if mask is not None:
        mask = mask.expand(batch, num_heads, seq_len, seq_len)
    outputs = []
    for h in range(num_heads):
        part = x[:, :, h * d_head : (h + 1) * d_head]
        scores = part @ part.transpose(1, 2) / math.sqrt(d_head)
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            hidden = ~mask[:, h]
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
            weights = scores.softmax(dim=-1).masked_fill(hidden, 0.0)
        outputs.append(weights @ part)
    return torch.cat(outputs, dim=-1) @ weight_o.T + bias_o


def feed_forward(x, w1, b1, w2, b2):
    return F.gelu(x @ w1.T + b1) @ w2.T + b2


def norm(x, gamma, beta, eps):
    return F.layer_norm(x, (x.shape[-1],), gamma, beta, eps)


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
    x = x + attention(norm(x, gamma1, beta1, eps), num_heads, weight_o, bias_o, mask)
    return x + feed_forward(norm(x, gamma2, beta2, eps), ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)


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
    x = norm(x + attention(x, num_heads, weight_o, bias_o, mask), gamma1, beta1, eps)
    return norm(x + feed_forward(x, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2), gamma2, beta2, eps)


def run_stack(block, x, num_heads, block_params, num_blocks):
    if num_blocks <= 0:
        raise ValueError(f"a stack can't have {num_blocks} blocks")
    if x.shape[-1] % num_heads != 0:
        raise ValueError(f"num_heads {num_heads} does not divide d_model {x.shape[-1]}")
    for _ in range(num_blocks):
        x = block(x, num_heads, **block_params)
    return x


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    return run_stack(pre_norm_transformer_block_forward, x, num_heads, block_params, num_blocks)


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    return run_stack(post_norm_transformer_block_forward, x, num_heads, block_params, num_blocks)
