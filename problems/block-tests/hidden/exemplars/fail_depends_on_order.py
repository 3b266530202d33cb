# fails: invalid: depends on the tests before it
"""The second test needs what the first has left."""

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


results = {}


def test_a_block(impl):
    results["x"], results["p"] = draw(2, 5, 12), parameters()
    results["block"] = impl.pre_norm_transformer_block_forward(results["x"], 3, **results["p"])
    assert results["block"].shape == (2, 5, 12)


def test_a_stack_of_one(impl):
    got = impl.stack_pre_norm_blocks(results["x"], 3, results["p"], 1)
    assert torch.allclose(got, results["block"])
