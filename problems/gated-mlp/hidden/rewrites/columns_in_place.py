"""Style: features first, in place on temporaries that autograd does not need, results as transposed views."""

import torch


def _open(gate, activation):
    if activation == "identity":
        return gate
    if activation == "relu":
        return gate.relu_()
    if activation == "gelu":
        return torch.special.ndtr(gate).mul(gate)
    if activation not in {"silu", "sigmoid"}:
        raise ValueError(f"activation {activation} is unknown")
    opening = torch.special.expit(gate)
    return opening if activation == "sigmoid" else opening * gate


def gated_mlp_forward(x, weight_gate, weight_up, weight_down, activation="silu"):
    columns = x.flatten(0, -2).mT if x.dim() > 1 else x.unsqueeze(-1)
    product = torch.mul(_open(weight_gate @ columns, activation), weight_up @ columns)
    output = torch.zeros(weight_down.shape[0], columns.shape[1], dtype=x.dtype, device=x.device)
    output += weight_down @ product
    return output.mT.reshape(x.shape) if x.dim() != 2 else output.mT


def mlp_parameter_count(d_model, d_ff, gated=False, bias=True):
    weights = d_model * d_ff
    if gated:
        return 3 * weights + (2 * d_ff + d_model if bias else 0)
    return 2 * weights + (d_ff + d_model if bias else 0)


def matched_gated_width(d_ff, multiple_of=1):
    width = int(2 * d_ff / 3)
    return width + (-width) % multiple_of


def mlp_forward_flops(num_tokens, d_model, d_ff, gated=False):
    flops = 4 * num_tokens * d_model * d_ff
    return flops + flops // 2 if gated else flops
