# fails: invalid: test_no_blocks_give_x
"""Wants x itself from a stack of no blocks, where a copy or a view is right, too."""

import torch


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def parameters(d_model=12, d_ff=20):
    shapes = [(d_model, d_model), (d_model,), (d_ff, d_model), (d_ff,), (d_model, d_ff), *5 * [(d_model,)]]
    names = [
        "weight_o",
        "bias_o",
        "ffn_weight1",
        "ffn_bias1",
        "ffn_weight2",
        "ffn_bias2",
        "gamma1",
        "beta1",
        "gamma2",
        "beta2",
    ]
    drawn = {name: draw(*shape) / 2 for name, shape in zip(names, shapes, strict=True)}
    return {**drawn, "gamma1": 1 + drawn["gamma1"], "gamma2": 1 + drawn["gamma2"]}


def test_no_blocks_give_x(impl):
    x = draw(2, 5, 12)
    assert impl.stack_pre_norm_blocks(x, 3, parameters(), 0) is x
