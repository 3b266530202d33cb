"""Style: gate and up as one fused matrix that is split by halves, and a table of activations."""

import torch
from torch import nn
from torch.nn import functional


class UnknownActivationError(ValueError):
    """Raised for a name that the table lacks."""


TABLE = {
    "silu": functional.silu,
    "gelu": functional.gelu,
    "relu": torch.relu,
    "sigmoid": functional.sigmoid,
    "identity": nn.Identity(),
}


def gated_mlp_forward(x, weight_gate, weight_up, weight_down, activation="silu", *, table=TABLE):
    if activation not in table:
        raise UnknownActivationError(f"no activation is called {activation!r}")
    both = functional.linear(x, torch.cat([weight_gate, weight_up]))
    gate, up = both.chunk(2, dim=-1)
    return functional.linear(table[activation](gate) * up, weight_down)


def mlp_parameter_count(d_model, d_ff, gated=False, bias=True):
    shapes = [(d_ff, d_model), (d_model, d_ff)]
    if gated:
        shapes.insert(0, (d_ff, d_model))
    return sum(rows * columns + (rows if bias else 0) for rows, columns in shapes)


def matched_gated_width(d_ff, multiple_of=1):
    return -(-(2 * d_ff // 3) // multiple_of) * multiple_of


def mlp_forward_flops(num_tokens, d_model, d_ff, gated=False):
    return num_tokens * d_model * d_ff * (6 if gated else 4)
