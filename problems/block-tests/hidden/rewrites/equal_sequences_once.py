"""Sequences that are one in memory are computed once and expanded; a stack of 0 blocks gives x itself."""
# style: gives an expanded result, of stride 0, where x is expanded, and x itself where there are 0 blocks

import torch


def repeated(x, mask):
    """Whether all sequences are the same memory, and nothing can treat them differently."""
    watched = torch.is_grad_enabled() and x.requires_grad
    shared_mask = mask is None or mask.dim() == 2 or mask.shape[0] == 1
    return len(x) > 1 and x.stride(0) == 0 and shared_mask and not watched


def norm(x, gamma, beta, eps):
    inverse = (x.var(-1, correction=0, keepdim=True) + eps).rsqrt()
    return x.sub(x.mean(-1, True)).mul(inverse).mul(gamma).add(beta)


def attention(x, num_heads, weight_o, bias_o, mask):
    if x.shape[-1] % num_heads:
        raise ValueError(f"num_heads has to divide {x.shape[-1]} and is {num_heads}")
    heads = x.reshape(len(x), x.shape[1], num_heads, -1).transpose(1, 2)
    scores = heads.matmul(heads.mT).div(heads.shape[-1] ** 0.5)
    if mask is None:
        return heads_together(scores.softmax(-1) @ heads) @ weight_o.mT + bias_o
    seen = mask.any(-1, keepdim=True)
    # A query that sees nothing attends to everything first, and is emptied afterwards.
    weights = scores.masked_fill(~(mask | ~seen), -torch.inf).softmax(-1)
    return heads_together((weights @ heads).masked_fill(~seen, 0)) @ weight_o.mT + bias_o


def heads_together(heads):
    return heads.transpose(1, 2).flatten(2)


def feed_forward(x, weight1, bias1, weight2, bias2):
    return torch.nn.functional.gelu(x.matmul(weight1.mT).add(bias1)).matmul(weight2.mT).add(bias2)


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
    batch = len(x)
    if repeated(x, mask):
        x = x[:1]
    middle = x + attention(norm(x, gamma1, beta1, eps), num_heads, weight_o, bias_o, mask)
    normalized = norm(middle, gamma2, beta2, eps)
    result = middle + feed_forward(normalized, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)
    return result.expand(batch, -1, -1)


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
    batch = len(x)
    if repeated(x, mask):
        x = x[:1]
    middle = norm(x + attention(x, num_heads, weight_o, bias_o, mask), gamma1, beta1, eps)
    fed = feed_forward(middle, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)
    return norm(middle + fed, gamma2, beta2, eps).expand(batch, -1, -1)


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"{num_blocks=}")
    while num_blocks > 0:
        x, num_blocks = pre_norm_transformer_block_forward(x, num_heads, **block_params), num_blocks - 1
    return x


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"{num_blocks=}")
    while num_blocks > 0:
        x, num_blocks = post_norm_transformer_block_forward(x, num_heads, **block_params), num_blocks - 1
    return x
