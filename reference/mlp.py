"""Oracle of the gated MLP: PyTorch's own gated linear unit and linear maps, counts from real modules and products.

Shazeer 2020, "GLU Variants Improve Transformer" (arXiv 2002.05202), section 2; the rounding of the width is that of
LLaMA's code (Touvron et al. 2023, arXiv 2302.13971, section 2.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import torch
from torch import Tensor, nn
from torch.nn import functional

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": functional.silu,
    "gelu": nn.GELU(approximate="none"),
    "relu": functional.relu,
    "sigmoid": functional.sigmoid,
    "identity": nn.Identity(),
}


def gated_mlp_forward(
    x: Tensor, weight_gate: Tensor, weight_up: Tensor, weight_down: Tensor, activation: str = "silu"
) -> Tensor:
    """The gated MLP: (act(gate) * up) through the down projection.

    x (..., d_model), weight_gate and weight_up (d_ff, d_model), weight_down (d_model, d_ff); gives (..., d_model).
    ValueError for an activation other than silu, gelu, relu, sigmoid and identity.
    """
    if activation not in _ACTIVATIONS:
        raise ValueError(f"unknown activation {activation!r}; take one of {', '.join(_ACTIVATIONS)}")
    gate, up = (functional.linear(x, weight) for weight in (weight_gate, weight_up))
    if activation == "sigmoid":
        hidden = functional.glu(torch.cat([up, gate], dim=-1))  # glu opens its first half by the second
    else:
        hidden = _ACTIVATIONS[activation](gate) * up
    return functional.linear(hidden, weight_down)


def mlp_parameter_count(d_model: int, d_ff: int, gated: bool = False, bias: bool = True) -> int:
    """The number of entries in the weights and biases of real linear layers, on the meta device."""
    return sum(parameter.numel() for layer in _layers(d_model, d_ff, gated, bias) for parameter in layer.parameters())


def matched_gated_width(d_ff: int, multiple_of: int = 1) -> int:
    """Two thirds of d_ff, cut off, then up to the next multiple; in exact fractions."""
    width = math.floor(Fraction(2, 3) * d_ff)
    return math.ceil(Fraction(width, multiple_of)) * multiple_of


def mlp_forward_flops(num_tokens: int, d_model: int, d_ff: int, gated: bool = False) -> int:
    """The operations of every matrix product (tokens, in) @ (in, out): a multiplication and an addition each."""
    products = [(num_tokens, layer.in_features, layer.out_features) for layer in _layers(d_model, d_ff, gated, False)]
    return sum(2 * math.prod(sizes) for sizes in products)


def _layers(d_model: int, d_ff: int, gated: bool, bias: bool) -> list[nn.Linear]:
    sizes = [(d_model, d_ff), (d_ff, d_model)]
    if gated:
        sizes.append((d_model, d_ff))
    return [nn.Linear(into, out, bias=bias, device="meta") for into, out in sizes]


def position_wise_ffn(
    x: Tensor, weight1: Tensor, bias1: Tensor, weight2: Tensor, bias2: Tensor, activation: str = "relu"
) -> Tensor:
    """The plain MLP of the original transformer: act(x @ weight1.T + bias1) @ weight2.T + bias2.

    x (..., d_model), weight1 (d_ff, d_model), weight2 (d_out, d_ff); gives (..., d_out). ValueError for an activation
    other than relu and gelu. Vaswani et al. 2017, "Attention Is All You Need" (arXiv 1706.03762), equation 2.
    """
    if activation not in ("relu", "gelu"):
        raise ValueError(f"unknown activation {activation!r}; take relu or gelu")
    hidden = functional.linear(x, weight1, bias1)
    return functional.linear(_ACTIVATIONS[activation](hidden), weight2, bias2)
