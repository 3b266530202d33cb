"""Style: an nn.Sequential on the meta device that is run with the given parameters by functional_call."""

import torch
from torch import nn
from torch.func import functional_call

ACTIVATIONS = {"relu": lambda: nn.ReLU(inplace=True), "gelu": nn.GELU}


def position_wise_ffn(x, weight1, bias1, weight2, bias2, activation="relu"):
    try:
        middle = ACTIVATIONS[activation]()
    except KeyError as exc:
        raise ValueError(f"no activation is called {activation!r}") from exc
    (d_ff, d_model), (d_out, _) = weight1.shape, weight2.shape
    with torch.device("meta"):
        network = nn.Sequential(nn.Linear(d_model, d_ff), middle, nn.Linear(d_ff, d_out))
    state = {"0.weight": weight1, "0.bias": bias1, "2.weight": weight2, "2.bias": bias2}
    return functional_call(network, state, (x,))
