# fails: uncaught: gamma and beta
"""Takes the parameters as they are at the start of training: gains 1, biases of the norms 0."""

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
    mixed = F.scaled_dot_product_attention(heads, heads, heads, mask)
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


@pytest.mark.parametrize("order", ["pre", "post"])
def test_values(impl, order):
    fresh = {"gamma1": torch.ones(12), "beta1": torch.zeros(12), "gamma2": torch.ones(12), "beta2": torch.zeros(12)}
    x, p = draw(2, 5, 12), {**parameters(), **{name: value.double() for name, value in fresh.items()}}
    got = getattr(impl, f"{order}_norm_transformer_block_forward")(x, 3, **p)
    assert near(got, expected(order, x, 3, p))
