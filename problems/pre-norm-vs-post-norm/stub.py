"""Pre-norm against post-norm: two orders of norm and residual add, and stacks that repeat one block.

Shapes, in all four functions:
    x                       (batch, seq_len, d_model)
    weight_o, bias_o        (d_model, d_model), (d_model,)
    ffn_weight1, ffn_bias1  (d_ff, d_model), (d_ff,)
    ffn_weight2, ffn_bias2  (d_model, d_ff), (d_model,)
    gamma1, beta1           (d_model,), the norm of the attention sublayer
    gamma2, beta2           (d_model,), the norm of the feed-forward sublayer
    mask                    None, or bool, True = may attend: (seq_len, seq_len), or four dimensions that
                            broadcast to (batch, num_heads, seq_len, seq_len)
    result                  (batch, seq_len, d_model)
"""

import torch


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
) -> torch.Tensor:
    """x + attention(norm1(x)), then x + ffn(norm2(x))."""
    raise NotImplementedError


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
) -> torch.Tensor:
    """norm1(x + attention(x)), then norm2(x + ffn(x))."""
    raise NotImplementedError


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks) -> torch.Tensor:
    """num_blocks pre-norm blocks in a row, each with the same block_params.

    block_params: a dict of the block's arguments after num_heads; "mask" and "eps" may be missing.
    """
    raise NotImplementedError


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks) -> torch.Tensor:
    """num_blocks post-norm blocks in a row, each with the same block_params, as in stack_pre_norm_blocks."""
    raise NotImplementedError
