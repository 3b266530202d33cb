"""Style: an nn.Module that is run by functional_call, counts taken from real modules on the meta device."""

import torch
from torch import nn
from torch.func import functional_call

ACTIVATIONS = {
    "silu": nn.SiLU(),
    "gelu": nn.GELU(approximate="none"),
    "relu": nn.ReLU(inplace=True),
    "sigmoid": nn.Sigmoid(),
    "identity": nn.Identity(),
}


class MLP(nn.Module):
    def __init__(self, d_model, d_ff, gated, bias=False, activation="silu"):
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(f"got activation {activation!r}, know {sorted(ACTIVATIONS)}")
        with torch.device("meta"):
            self.gate = nn.Linear(d_model, d_ff, bias=bias) if gated else None
            self.up = nn.Linear(d_model, d_ff, bias=bias)
            self.down = nn.Linear(d_ff, d_model, bias=bias)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x):
        return self.down(self.activation(self.gate(x)) * self.up(x))

    @property
    def linears(self):
        return [child for child in self.children() if isinstance(child, nn.Linear)]


def gated_mlp_forward(*args, **kwargs):
    return _forward(*args, **kwargs)


def _forward(x, weight_gate, weight_up, weight_down, activation="silu", module=MLP):
    d_ff, d_model = weight_gate.shape
    mlp = module(d_model, d_ff, gated=True, activation=activation)
    state = {"gate.weight": weight_gate, "up.weight": weight_up, "down.weight": weight_down}
    return functional_call(mlp, state, (x,))


def mlp_parameter_count(d_model, d_ff, gated=False, bias=True):
    return sum(parameter.numel() for parameter in MLP(d_model, d_ff, gated, bias).parameters())


def matched_gated_width(d_ff, multiple_of=1):
    width = 2 * d_ff // 3
    return next(candidate for candidate in range(width, width + multiple_of) if candidate % multiple_of == 0)


def mlp_forward_flops(num_tokens, d_model, d_ff, gated=False):
    per_token = sum(2 * linear.weight.numel() for linear in MLP(d_model, d_ff, gated).linears)
    return num_tokens * per_token
