# fails: invalid: stride 0, where x is expanded
"""Writes into one sequence of the result, though results may share memory."""

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


def test_sequences_are_apart(impl):
    x = draw(5, 12).expand(2, 5, 12)
    got = impl.post_norm_transformer_block_forward(x, 3, **parameters())
    got[0] += 1
    assert not torch.allclose(got[0], got[1])
