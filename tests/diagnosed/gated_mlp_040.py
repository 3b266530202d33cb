import torch
from torch.nn import functional as F


def activate(z, name):
    if name == "silu":
        return F.silu(z)
    if name == "gelu":
        return F.gelu(z)
    if name == "relu":
        return F.relu(z)
    if name == "sigmoid":
        return torch.sigmoid(z)
    return z


def gated_mlp_forward(x, weight_gate, weight_up, weight_down, activation="silu"):
    if activation not in ("silu", "gelu", "relu", "sigmoid", "identity"):
        raise ValueError(f"no such activation: {activation!r}")
    tokens = x.reshape(-1, x.shape[-1])
    outputs = []
    for position in range(tokens.shape[0]):
        token = tokens[position]
        gate = weight_gate @ token
        up = weight_up @ token
        hidden = activate(gate * up, activation)
        outputs.append(weight_down @ hidden)
    return torch.stack(outputs).reshape(x.shape)


def mlp_parameter_count(d_model, d_ff, gated=False, bias=True):
    shapes = [(d_ff, d_model), (d_model, d_ff)]
    if gated:
        shapes.insert(0, (d_ff, d_model))
    count = 0
    for rows, columns in shapes:
        count += rows * columns
        if bias:
            count += rows
    return count


def matched_gated_width(d_ff, multiple_of=1):
    width = d_ff * 2 // 3
    return width + (-width) % multiple_of


def mlp_forward_flops(num_tokens, d_model, d_ff, gated=False):
    flops = 0
    for _ in range(3 if gated else 2):
        flops += 2 * num_tokens * d_model * d_ff
    return flops
