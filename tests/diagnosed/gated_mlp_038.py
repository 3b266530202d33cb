import math

import torch


def gated_mlp_forward(x, weight_gate, weight_up, weight_down, activation="silu"):
    d_ff, d_model = weight_gate.shape
    rows = x.reshape(-1, d_model)
    z = torch.mm(rows, weight_gate.t())
    if activation == "silu":
        opened = z * torch.sigmoid(z)
    elif activation == "gelu":
        opened = z * (0.5 * torch.erfc(-z / math.sqrt(2.0)))
    elif activation == "relu":
        opened = torch.clamp(z, min=0.0)
    elif activation == "sigmoid":
        opened = torch.sigmoid(z)
    elif activation == "identity":
        opened = z
    else:
        raise ValueError(f"activation '{activation}' is not known")
    passed = torch.mm(rows, weight_up.t())
    product = torch.mul(opened, passed)
    result = torch.mm(product, weight_down.t())
    return result.reshape(x.shape)


def mlp_parameter_count(d_model, d_ff, gated=False, bias=True):
    weights = d_ff * d_model + d_model * d_ff
    biases = d_ff + d_model
    if gated:
        weights = d_ff * d_model + d_ff * d_model + d_model * d_ff
        biases = d_ff + d_ff + d_model
    return weights + biases if bias else weights


def matched_gated_width(d_ff, multiple_of=1):
    width = 2 * d_ff // 3
    blocks = (width + multiple_of - 1) // multiple_of
    return blocks * multiple_of


def mlp_forward_flops(num_tokens, d_model, d_ff, gated=False):
    up = 2 * num_tokens * d_model * d_ff
    gate = 2 * num_tokens * d_model * d_ff if gated else 0
    down = 2 * num_tokens * d_ff * d_model
    forward = up + gate + down
    backward_to_inputs = forward
    backward_to_weights = forward
    return forward + backward_to_inputs + backward_to_weights
