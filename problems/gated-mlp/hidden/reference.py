"""The gated MLP of today's blocks, and how its cost compares with the plain one's.

The unit and its variants: Shazeer 2020, "GLU Variants Improve Transformer" (arXiv 2002.05202), section 2.
The width that keeps the cost: two thirds, the same section; rounded to a multiple as in LLaMA
(Touvron et al. 2023, arXiv 2302.13971, section 2.2).
"""

import torch
import torch.nn.functional as F


def gated_mlp_forward(x, weight_gate, weight_up, weight_down, activation="silu"):
    gate = x @ weight_gate.T  # (..., d_ff)
    up = x @ weight_up.T  # (..., d_ff)
    opened = activate(gate, activation)  # the gate alone goes through the activation
    hidden = opened * up  # (..., d_ff)
    return hidden @ weight_down.T  # (..., d_model)


def activate(gate, activation):
    if activation == "silu":  # SwiGLU
        return F.silu(gate)
    if activation == "gelu":  # GEGLU
        return F.gelu(gate)
    if activation == "relu":  # ReGLU
        return F.relu(gate)
    if activation == "sigmoid":  # GLU
        return torch.sigmoid(gate)
    if activation == "identity":  # bilinear
        return gate
    raise ValueError(f"unknown activation {activation!r}; take silu, gelu, relu, sigmoid or identity")


def mlp_parameter_count(d_model, d_ff, gated=False, bias=True):
    into_hidden = 2 if gated else 1  # the gate is a second matrix of the first one's shape
    matrices = into_hidden + 1
    count = matrices * d_model * d_ff
    if bias:
        biases = into_hidden * d_ff + d_model  # a bias is as long as its matrix's output
        count = count + biases
    return count


def matched_gated_width(d_ff, multiple_of=1):
    width = int(2 * d_ff / 3)  # three matrices of this width weigh what two of d_ff do
    groups = (width + multiple_of - 1) // multiple_of  # division that rounds up
    return groups * multiple_of


def mlp_forward_flops(num_tokens, d_model, d_ff, gated=False):
    matrices = 3 if gated else 2
    multiply_adds = num_tokens * matrices * d_model * d_ff
    return 2 * multiply_adds
