"""Features are rows and tokens columns, as in the papers' formulas; what comes out is turned back as a view."""
# style: gives results in transposed memory

import torch


def normalize(columns, gamma, beta, eps):
    """columns: (batch, d_model, seq_len)."""
    variance, mean = torch.var_mean(columns, dim=1, correction=0, keepdim=True)
    return gamma[:, None] * ((columns - mean) / torch.sqrt(variance + eps)) + beta[:, None]


def attend(columns, num_heads, weight_o, bias_o, mask):
    batch, width, tokens = columns.shape
    if width % num_heads:
        raise ValueError(f"{width} rows can't be shared by {num_heads} heads")
    heads = columns.reshape(batch, num_heads, width // num_heads, tokens)
    scores = heads.mT @ heads * (width // num_heads) ** -0.5  # (batch, num_heads, query, key)
    if mask is not None:
        scores = scores.where(mask, float("-inf"))
        scores = scores.where(mask.any(-1, keepdim=True), 0.0)
    weights = torch.softmax(scores, -1)
    if mask is not None:
        weights = weights * mask
    mixed = (heads @ weights.mT).reshape(batch, width, tokens)
    return weight_o @ mixed + bias_o[:, None]


def feed(columns, weight1, bias1, weight2, bias2):
    return weight2 @ torch.nn.functional.gelu(weight1 @ columns + bias1[:, None]) + bias2[:, None]


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
    columns = columns + attend(normalize(columns, gamma1, beta1, eps), num_heads, weight_o, bias_o, mask)
    normalized = normalize(columns, gamma2, beta2, eps)
    return (columns + feed(normalized, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)).contiguous().mT


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
    columns = normalize(columns + attend(columns, num_heads, weight_o, bias_o, mask), gamma1, beta1, eps)
    fed = feed(columns, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)
    return normalize(columns + fed, gamma2, beta2, eps).contiguous().mT


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"a stack of {num_blocks} blocks")
    if num_blocks == 0:
        return x.mT.contiguous().mT
    below = stack_pre_norm_blocks(x, num_heads, block_params, num_blocks - 1)
    return pre_norm_transformer_block_forward(below, num_heads, **block_params)


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"a stack of {num_blocks} blocks")
    if num_blocks == 0:
        return x.mT.contiguous().mT
    below = stack_post_norm_blocks(x, num_heads, block_params, num_blocks - 1)
    return post_norm_transformer_block_forward(below, num_heads, **block_params)
