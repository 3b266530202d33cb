"""The gated MLP and what it costs."""

import torch  # noqa: F401


def gated_mlp_forward(x, weight_gate, weight_up, weight_down, activation="silu"):
    """Return (act(x @ weight_gate.T) * (x @ weight_up.T)) @ weight_down.T.

    x (..., d_model); weight_gate, weight_up (d_ff, d_model); weight_down (d_model, d_ff);
    activation: "silu", "gelu" (exact), "relu", "sigmoid" or "identity", any other string is a ValueError.
    Returns (..., d_model).
    """
    raise NotImplementedError


def mlp_parameter_count(d_model, d_ff, gated=False, bias=True):
    """Return the number of weights, and of biases where ``bias`` is set (one vector per matrix), as an int."""
    raise NotImplementedError


def matched_gated_width(d_ff, multiple_of=1):
    """Return int(2 * d_ff / 3), rounded up to a multiple of ``multiple_of``, as an int."""
    raise NotImplementedError


def mlp_forward_flops(num_tokens, d_model, d_ff, gated=False):
    """Return the cost of one forward pass over ``num_tokens`` tokens as an int.

    2 for each multiply-add, matrix products only.
    """
    raise NotImplementedError
