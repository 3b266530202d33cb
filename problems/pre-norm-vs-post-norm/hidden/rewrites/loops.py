"""Style: Python loops over sequences, heads and queries, one softmax over the visible keys of one query at a time."""

import math

import torch
from torch.special import ndtr


def normalize_token(token, gamma, beta, eps):
    d = token.numel()
    centered = token - token.sum() / d
    deviation = torch.sqrt(torch.dot(centered, centered) / d + eps)
    return gamma * (centered / deviation) + beta


def normalize(x, gamma, beta, eps):
    rows = [[normalize_token(token, gamma, beta, eps) for token in sequence] for sequence in x]
    return torch.stack([torch.stack(row) for row in rows])


def one_query(query, tokens, visible):
    """query: (d_head,), tokens: (seq_len, d_head), visible: the keys that may be seen."""
    if not visible:
        return torch.zeros_like(query)
    keys = tokens[visible]
    scores = torch.mv(keys, query) / math.sqrt(query.numel())
    shares = torch.exp(scores - scores.detach().max())
    return torch.mv(keys.T, shares / shares.sum())


def one_head(tokens, allowed):
    """tokens: (seq_len, d_head), allowed: (seq_len, seq_len) of bool, or None."""
    seq_len = len(tokens)
    outputs = []
    for i in range(seq_len):
        visible = [j for j in range(seq_len) if allowed is None or bool(allowed[i, j])]
        outputs.append(one_query(tokens[i], tokens, visible))
    return torch.stack(outputs)


def attend(x, num_heads, weight_o, bias_o, mask):
    batch, seq_len, width = x.shape
    if width % num_heads:
        raise ValueError(f"num_heads={num_heads} does not fit a width of {width}")
    if mask is not None:
        mask = mask.expand(batch, num_heads, seq_len, seq_len)
    size = width // num_heads
    results = []
    for b in range(batch):
        heads = []
        for h in range(num_heads):
            chunk = x[b, :, h * size : (h + 1) * size]
            heads.append(one_head(chunk, None if mask is None else mask[b, h]))
        results.append(torch.cat(heads, dim=-1) @ weight_o.t() + bias_o)
    return torch.stack(results)


def feed(x, weight1, bias1, weight2, bias2):
    z = torch.matmul(x, weight1.transpose(0, 1)).add(bias1)
    return torch.matmul(z.mul(normal_distribution(z)), weight2.transpose(0, 1)).add(bias2)


def normal_distribution(z):
    return ndtr(z.float()).to(z.dtype) if z.dtype in (torch.bfloat16, torch.float16) else ndtr(z)


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
    middle = attend(normalize(x, gamma1, beta1, eps), num_heads, weight_o, bias_o, mask) + x
    return feed(normalize(middle, gamma2, beta2, eps), ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2) + middle


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
    middle = normalize(attend(x, num_heads, weight_o, bias_o, mask) + x, gamma1, beta1, eps)
    summed = feed(middle, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2) + middle
    return normalize(summed, gamma2, beta2, eps)


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"num_blocks={num_blocks}")
    for _ in range(num_blocks):
        x = pre_norm_transformer_block_forward(x, num_heads, **block_params)
    return x


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"num_blocks={num_blocks}")
    for _ in range(num_blocks):
        x = post_norm_transformer_block_forward(x, num_heads, **block_params)
    return x
