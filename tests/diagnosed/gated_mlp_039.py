import torch.nn.functional as F
from torch import sigmoid

_ACTIVATIONS = {
    "silu": F.silu,
    "gelu": lambda z: F.gelu(z, approximate="none"),
    "relu": F.relu,
    "sigmoid": sigmoid,
    "identity": lambda z: z,
}


def _get_activation(name):
    if name in _ACTIVATIONS:
        return _ACTIVATIONS[name]
    raise ValueError(f"activation must be one of {sorted(_ACTIVATIONS)}, got {name!r}")


def _num_matrices(*, gated):
    if gated:
        return 3
    return 2


def gated_mlp_forward(x, weight_gate, weight_up, weight_down, activation="silu"):
    act_fn = _get_activation(activation)
    gate = act_fn(F.linear(x, weight_gate))
    return F.linear(gate * F.linear(x, weight_up), weight_down)


def mlp_parameter_count(d_model, d_ff, gated=False, bias=True):
    n = _num_matrices(gated=gated)
    weights = n * d_model * d_ff
    if not bias:
        return weights
    return weights + (n - 1) * d_ff + d_model


def matched_gated_width(d_ff, multiple_of=1):
    width, _ = divmod(2 * d_ff, 3)
    return width


def mlp_forward_flops(num_tokens, d_model, d_ff, gated=False):
    return 2 * num_tokens * _num_matrices(gated=gated) * d_model * d_ff
