"""Style: functional calls on the norm's parameters, a number for the probability, more optional arguments."""

import torch
import torch.nn.functional as F
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, d_model: int, dropout: float = 0.0, *, eps: float = 1e-5) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model, eps=eps)
        self.p = dropout

    def forward(self, x: torch.Tensor, sublayer_output: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        if sublayer_output.size() != x.size():
            raise ValueError(f"cannot add {list(sublayer_output.size())} to {list(x.size())}")
        branch = F.dropout(sublayer_output, self.p, self.training)
        summed = torch.add(x, branch, alpha=scale)
        return F.layer_norm(summed, self.norm.normalized_shape, self.norm.weight, self.norm.bias, self.norm.eps)
