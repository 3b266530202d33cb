"""The oracle of pre-norm against post-norm, on PyTorch's own norm, attention, linear map and GELU.

Both orders are one loop over the same two sublayers; see Xiong et al. 2020 (arXiv:2002.04745), figure 1.
Every function here takes ``x`` of shape (batch, seq_len, d_model), and masks with True = may attend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch.nn.functional as F
from torch import Tensor

Sublayer = Callable[[Tensor], Tensor]


def pre_norm_transformer_block_forward(
    x: Tensor,
    num_heads: int,
    weight_o: Tensor,
    bias_o: Tensor,
    ffn_weight1: Tensor,
    ffn_bias1: Tensor,
    ffn_weight2: Tensor,
    ffn_bias2: Tensor,
    gamma1: Tensor,
    beta1: Tensor,
    gamma2: Tensor,
    beta2: Tensor,
    mask: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """x + sublayer(norm(x)), for attention and then for the feed-forward network; (batch, seq_len, d_model).

    ``weight_o`` is (d_model, d_model), ``ffn_weight1`` (d_ff, d_model), ``ffn_weight2`` (d_model, d_ff); a width
    that ``num_heads`` does not divide is a ValueError.
    """
    attend = _attention(num_heads, weight_o, bias_o, mask)
    feed = _feed_forward(ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)
    for sublayer, norm in ((attend, _norm(gamma1, beta1, eps)), (feed, _norm(gamma2, beta2, eps))):
        x = x + sublayer(norm(x))
    return x


def post_norm_transformer_block_forward(
    x: Tensor,
    num_heads: int,
    weight_o: Tensor,
    bias_o: Tensor,
    ffn_weight1: Tensor,
    ffn_bias1: Tensor,
    ffn_weight2: Tensor,
    ffn_bias2: Tensor,
    gamma1: Tensor,
    beta1: Tensor,
    gamma2: Tensor,
    beta2: Tensor,
    mask: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """norm(x + sublayer(x)), for attention and then for the feed-forward network; shapes and error as pre-norm's."""
    attend = _attention(num_heads, weight_o, bias_o, mask)
    feed = _feed_forward(ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)
    for sublayer, norm in ((attend, _norm(gamma1, beta1, eps)), (feed, _norm(gamma2, beta2, eps))):
        x = norm(x + sublayer(x))
    return x


def stack_pre_norm_blocks(x: Tensor, num_heads: int, block_params: dict[str, Any], num_blocks: int) -> Tensor:
    """``num_blocks`` pre-norm blocks that share ``block_params``, no final norm; a negative number is a ValueError."""
    return _repeat(pre_norm_transformer_block_forward, x, num_heads, block_params, num_blocks)


def stack_post_norm_blocks(x: Tensor, num_heads: int, block_params: dict[str, Any], num_blocks: int) -> Tensor:
    """``num_blocks`` post-norm blocks that share ``block_params``; a negative number is a ValueError."""
    return _repeat(post_norm_transformer_block_forward, x, num_heads, block_params, num_blocks)


def _repeat(
    block: Callable[..., Tensor], x: Tensor, num_heads: int, block_params: dict[str, Any], num_blocks: int
) -> Tensor:
    if num_blocks < 0:
        raise ValueError(f"num_blocks is {num_blocks}, expected 0 or more")
    for _ in range(num_blocks):
        x = block(x, num_heads, **block_params)
    return x


def _norm(gamma: Tensor, beta: Tensor, eps: float) -> Sublayer:
    return lambda x: F.layer_norm(x, gamma.shape, gamma, beta, eps)


def _attention(num_heads: int, weight_o: Tensor, bias_o: Tensor, mask: Tensor | None) -> Sublayer:
    def attend(x: Tensor) -> Tensor:
        if x.shape[-1] % num_heads:
            raise ValueError(f"width {x.shape[-1]} is not a multiple of num_heads {num_heads}")
        heads = x.unflatten(-1, (num_heads, -1)).transpose(1, 2)  # (batch, num_heads, seq_len, d_head)
        mixed = F.scaled_dot_product_attention(heads, heads, heads, attn_mask=mask)
        return F.linear(mixed.transpose(1, 2).flatten(2), weight_o, bias_o)

    return attend


def _feed_forward(weight1: Tensor, bias1: Tensor, weight2: Tensor, bias2: Tensor) -> Sublayer:
    return lambda x: F.linear(F.gelu(F.linear(x, weight1, bias1)), weight2, bias2)
