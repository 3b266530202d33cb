"""Tests of the two transformer blocks and their stacks: `impl` has all four functions of pre-norm-vs-post-norm.

impl.pre_norm_transformer_block_forward(x, num_heads, weight_o, bias_o, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2,
                                        gamma1, beta1, gamma2, beta2, mask=None, eps=1e-5)
impl.post_norm_transformer_block_forward(the same arguments)
impl.stack_pre_norm_blocks(x, num_heads, block_params, num_blocks)
impl.stack_post_norm_blocks(x, num_heads, block_params, num_blocks)
"""

import torch


def fresh_parameters(d_model=12, d_ff=20):
    """The arguments of a block after num_heads, as they are before training."""
    return {
        "weight_o": torch.randn(d_model, d_model) / d_model**0.5,
        "bias_o": torch.zeros(d_model),
        "ffn_weight1": torch.randn(d_ff, d_model) / d_model**0.5,
        "ffn_bias1": torch.zeros(d_ff),
        "ffn_weight2": torch.randn(d_model, d_ff) / d_ff**0.5,
        "ffn_bias2": torch.zeros(d_model),
        "gamma1": torch.ones(d_model),
        "beta1": torch.zeros(d_model),
        "gamma2": torch.ones(d_model),
        "beta2": torch.zeros(d_model),
    }


def test_a_block_keeps_the_shape(impl):
    x = torch.randn(2, 5, 12)
    assert impl.pre_norm_transformer_block_forward(x, 3, **fresh_parameters()).shape == (2, 5, 12)


def test_a_post_norm_stack_ends_in_a_norm(impl):
    result = impl.stack_post_norm_blocks(torch.randn(2, 5, 12), 3, fresh_parameters(), 2)
    assert torch.allclose(result.mean(dim=-1), torch.zeros(2, 5), atol=1e-3)
