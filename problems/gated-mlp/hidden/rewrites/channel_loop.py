"""Style: a loop over the hidden channels that accumulates the output, on a flattened batch, and counting loops."""

import torch


def activated(value, activation):
    if activation in ("silu", "sigmoid"):
        opening = torch.sigmoid(value)
        return value * opening if activation == "silu" else opening
    if activation == "gelu":
        return torch.nn.GELU()(value)
    if activation == "relu":
        return torch.where(value > 0, value, torch.zeros_like(value))
    if activation == "identity":
        return value
    raise ValueError("unknown activation: " + repr(activation))


def gated_mlp_forward(x, weight_gate, weight_up, weight_down, activation="silu"):
    tokens = x.reshape(-1, x.shape[-1])
    output = torch.zeros_like(tokens)
    for channel in range(weight_gate.shape[0]):
        gate = (tokens * weight_gate[channel]).sum(-1, keepdim=True)
        up = (tokens * weight_up[channel]).sum(-1, keepdim=True)
        output = output + activated(gate, activation) * up * weight_down[:, channel]
    return output.reshape(x.shape)


def mlp_parameter_count(d_model, d_ff, gated=False, bias=True):
    total = 0
    for matrix in ("gate", "up", "down"):
        if matrix == "gate" and not gated:
            continue
        rows, columns = (d_model, d_ff) if matrix == "down" else (d_ff, d_model)
        total += rows * columns
        if bias:
            total += rows
    return total


def matched_gated_width(d_ff, multiple_of=1):
    width = int(d_ff * 2 / 3)
    while width % multiple_of:
        width += 1
    return width


def mlp_forward_flops(num_tokens, d_model, d_ff, gated=False):
    return sum(2 * num_tokens * d_model * d_ff for _ in range(3 if gated else 2))
