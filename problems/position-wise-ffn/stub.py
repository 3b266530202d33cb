"""The position-wise feed-forward network: two linear maps with an activation between them."""

import torch  # noqa: F401


def position_wise_ffn(x, weight1, bias1, weight2, bias2, activation="relu"):
    """Return act(x @ weight1.T + bias1) @ weight2.T + bias2.

    x (..., d_model); weight1 (d_ff, d_model), bias1 (d_ff,); weight2 (d_out, d_ff), bias2 (d_out,);
    activation: "relu" or "gelu" (exact), any other string is a ValueError. Returns (..., d_out).
    """
    raise NotImplementedError
