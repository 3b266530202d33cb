# fails: invalid: rounded by up to 1e-9
"""Wants the very bits of two blocks from a stack of two."""

import torch


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def parameters(d_model=12, d_ff=20):
    shapes = {"weight_o": (d_model, d_model), "ffn_weight1": (d_ff, d_model), "ffn_weight2": (d_model, d_ff)}
    weights = {name: draw(*shape) / 2 for name, shape in shapes.items()}
    biases = {"bias_o": draw(d_model), "ffn_bias1": draw(d_ff), "ffn_bias2": draw(d_model)}
    norms = {f"{name}{number}": draw(d_model) for name in ("gamma", "beta") for number in (1, 2)}
    return {**weights, **biases, **norms}


def test_stack_of_two(impl):
    x, p = draw(2, 5, 12), parameters()
    once = impl.pre_norm_transformer_block_forward(x, 3, **p)
    twice = impl.pre_norm_transformer_block_forward(once, 3, **p)
    assert torch.equal(impl.stack_pre_norm_blocks(x, 3, p, 2), twice)
