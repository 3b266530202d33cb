"""Model answer: the position-wise feed-forward network.

Vaswani et al. 2017, "Attention Is All You Need" (arXiv 1706.03762), section 3.3, equation 2; GELU as in Hendrycks and
Gimpel 2016 (arXiv 1606.08415). Every token goes through the same two linear maps, and no token sees another.
"""

import torch.nn.functional as F


def position_wise_ffn(x, weight1, bias1, weight2, bias2, activation="relu"):
    hidden = x @ weight1.T  # (..., d_ff)
    hidden = hidden + bias1
    activated = activate(hidden, activation)
    output = activated @ weight2.T  # (..., d_out)
    return output + bias2


def activate(hidden, activation):
    if activation == "relu":
        return F.relu(hidden)
    if activation == "gelu":
        return F.gelu(hidden)
    raise ValueError(f"unknown activation {activation!r}; take relu or gelu")
