"""Style: einsum over named axes, and every activation written out from its definition."""

import math

import torch


def sigmoid(z):
    return 0.5 * (1.0 + torch.tanh(0.5 * z))


def normal_cdf(z):
    return 0.5 * torch.erfc(-z / math.sqrt(2.0))


def act(z, name):
    match_name = {
        "silu": lambda: z * sigmoid(z),
        "gelu": lambda: z * normal_cdf(z),
        "relu": lambda: z.clamp(min=0),
        "sigmoid": lambda: sigmoid(z),
        "identity": lambda: z,
    }
    try:
        chosen = match_name[name]
    except KeyError as error:
        raise ValueError(f"activation {name!r} is not one of {', '.join(match_name)}") from error
    return chosen()


def gated_mlp_forward(x, weight_gate, weight_up, weight_down, activation="silu"):
    gate = torch.einsum("...d,fd->...f", x, weight_gate)
    up = torch.einsum("...d,fd->...f", x, weight_up)
    return torch.einsum("...f,...f,df->...d", act(gate, activation), up, weight_down)


def mlp_parameter_count(d_model, d_ff, gated=False, bias=True):
    def linear(out_features, in_features):
        return out_features * (in_features + int(bias))

    return (1 + int(gated)) * linear(d_ff, d_model) + linear(d_model, d_ff)


def matched_gated_width(d_ff, multiple_of=1):
    quotient, remainder = divmod(math.floor(d_ff / 1.5), multiple_of)
    return (quotient + (remainder > 0)) * multiple_of


def mlp_forward_flops(num_tokens, d_model, d_ff, gated=False):
    product = 2 * num_tokens * d_model * d_ff
    return product + product + product * bool(gated)
