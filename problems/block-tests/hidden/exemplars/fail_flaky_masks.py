# fails: invalid: two answers
"""Draws masks that now and then leave a query nothing, and then expects NaN."""

import pytest
import torch
import torch.nn.functional as F


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


def attention(x, num_heads, p, mask):
    heads = x.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    scores = heads @ heads.mT / heads.shape[-1] ** 0.5
    mixed = scores.masked_fill(~mask, -torch.inf).softmax(-1) @ heads
    return F.linear(mixed.transpose(1, 2).flatten(2), p["weight_o"], p["bias_o"])


def expected(order, x, num_heads, p, mask=None, eps=1e-5, depth=1):
    def ffn(x):
        hidden = F.gelu(F.linear(x, p["ffn_weight1"], p["ffn_bias1"]))
        return F.linear(hidden, p["ffn_weight2"], p["ffn_bias2"])

    def norm(x, number):
        return F.layer_norm(x, x.shape[-1:], p[f"gamma{number}"], p[f"beta{number}"], eps)

    for _ in range(depth):
        if order == "pre":
            x = x + attention(norm(x, 1), num_heads, p, mask)
            x = x + ffn(norm(x, 2))
        else:
            x = norm(x + attention(x, num_heads, p, mask), 1)
            x = norm(x + ffn(x), 2)
    return x


def near(got, wanted, tolerance=1e-8):
    return got.shape == wanted.shape and bool((got - wanted).norm() <= tolerance * wanted.norm())


@pytest.mark.parametrize("round", range(12))
def test_masks(impl, round):
    x, p, mask = draw(1, 4, 12), parameters(), torch.rand(4, 4) < 0.6
    assert near(impl.pre_norm_transformer_block_forward(x, 3, **p, mask=mask), expected("pre", x, 3, p, mask))
