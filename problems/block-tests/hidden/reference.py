"""The implementation that every test has to accept first: the two orders of norm and add, and stacks of one block.

Post-norm: Vaswani et al. 2017, section 3.1, and Prince, Understanding Deep Learning, equation 12.13.
Pre-norm and what the order does to depth: Xiong et al. 2020 (arXiv:2002.04745), figure 1 and section 3.
"""

import math

import torch
import torch.nn.functional as F


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
    """A sublayer reads a normalized copy of the stream and adds to the stream itself. x: (batch, seq_len, d_model)."""
    attention_input = layer_norm(x, gamma1, beta1, eps)
    attention_output = attention(attention_input, num_heads, weight_o, bias_o, mask)
    stream = x + attention_output
    ffn_input = layer_norm(stream, gamma2, beta2, eps)
    ffn_output = feed_forward(ffn_input, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)
    return stream + ffn_output


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
    """A sublayer reads the stream itself, and the sum of the two is normalized. x: (batch, seq_len, d_model)."""
    attention_output = attention(x, num_heads, weight_o, bias_o, mask)
    attention_sum = x + attention_output
    stream = layer_norm(attention_sum, gamma1, beta1, eps)
    ffn_output = feed_forward(stream, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)
    ffn_sum = stream + ffn_output
    return layer_norm(ffn_sum, gamma2, beta2, eps)


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    """The pre-norm block num_blocks times, every time with the same parameters, no norm at the end."""
    if num_blocks < 0:
        raise ValueError(f"num_blocks is {num_blocks}; a stack has 0 blocks or more")
    stream = x
    for _ in range(num_blocks):
        stream = pre_norm_transformer_block_forward(stream, num_heads, **block_params)
    return stream


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    """The post-norm block num_blocks times, every time with the same parameters."""
    if num_blocks < 0:
        raise ValueError(f"num_blocks is {num_blocks}; a stack has 0 blocks or more")
    stream = x
    for _ in range(num_blocks):
        stream = post_norm_transformer_block_forward(stream, num_heads, **block_params)
    return stream


def layer_norm(x, gamma, beta, eps):
    """Each token normalized over its own features, then scaled and shifted. x: (batch, seq_len, d_model)."""
    mean = x.mean(dim=-1, keepdim=True)  # (batch, seq_len, 1)
    centered = x - mean
    variance = centered.square().mean(dim=-1, keepdim=True)  # divided by d_model: biased
    inverse = torch.rsqrt(variance + eps)
    normalized = centered * inverse
    scaled = gamma * normalized
    return scaled + beta


def attention(x, num_heads, weight_o, bias_o, mask):
    """Self-attention whose heads, chunks of x, are query, key and value at once; then the output projection."""
    batch, seq_len, d_model = x.shape
    if d_model % num_heads != 0:
        raise ValueError(f"num_heads {num_heads} does not divide the width {d_model}; choose a divisor")
    d_head = d_model // num_heads
    chunks = x.reshape(batch, seq_len, num_heads, d_head)
    heads = chunks.transpose(1, 2)  # (batch, num_heads, seq_len, d_head)
    products = heads @ heads.transpose(-2, -1)  # (batch, num_heads, seq_len, seq_len)
    scores = products / math.sqrt(d_head)
    weights = masked_softmax(scores, mask)
    mixed = weights @ heads  # (batch, num_heads, seq_len, d_head)
    merged = mixed.transpose(1, 2).reshape(batch, seq_len, d_model)
    return merged @ weight_o.T + bias_o  # (batch, seq_len, d_model)


def masked_softmax(scores, mask):
    """Softmax over the keys that a query may see (True); a query that sees none gets zeros.

    The fill is finite: with -inf, a row without a visible key would be NaN, and so would its gradient.
    """
    if mask is None:
        return torch.softmax(scores, dim=-1)
    hidden = torch.logical_not(mask)
    lowest = torch.finfo(scores.dtype).min
    visible_scores = scores.masked_fill(hidden, lowest)
    weights = torch.softmax(visible_scores, dim=-1)
    return weights.masked_fill(hidden, 0.0)


def feed_forward(x, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2):
    """Token by token: d_model -> d_ff, the exact GELU, d_ff -> d_model."""
    preactivation = x @ ffn_weight1.T + ffn_bias1  # (batch, seq_len, d_ff)
    activation = F.gelu(preactivation)
    return activation @ ffn_weight2.T + ffn_bias2  # (batch, seq_len, d_model)
