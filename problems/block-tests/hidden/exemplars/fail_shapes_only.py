# fails: uncaught: values, masks, scale, eps, gamma and beta, depth, inputs unchanged
"""Looks at the shapes of what comes back."""

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


def test_shapes(impl):
    x = draw(2, 5, 12)
    assert impl.pre_norm_transformer_block_forward(x, 3, **parameters()).shape == (2, 5, 12)
    assert impl.post_norm_transformer_block_forward(x, 3, **parameters()).shape == (2, 5, 12)
    for depth in range(4):
        assert impl.stack_pre_norm_blocks(x, 3, parameters(), depth).shape == (2, 5, 12)
        assert impl.stack_post_norm_blocks(x, 3, parameters(), depth).shape == (2, 5, 12)
