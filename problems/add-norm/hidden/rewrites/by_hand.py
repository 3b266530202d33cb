"""Style: parameters in a bare module, statistics and the dropout mask by hand, an error of its own."""

import torch
from torch import nn


class ShapeError(ValueError):
    """Two shapes that should be one."""


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout=0.0):
        super().__init__()
        self.keep = 1 - dropout
        self.norm = nn.Module()
        self.norm.weight = nn.Parameter(torch.ones(d_model))
        self.norm.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x, sublayer_output):
        if list(x.shape) != list(sublayer_output.shape):
            raise ShapeError(f"{list(x.shape)} is not {list(sublayer_output.shape)}")
        if self.training and self.keep < 1:
            mask = torch.rand_like(sublayer_output, dtype=torch.float32) < self.keep
            sublayer_output = sublayer_output * mask / self.keep
        total = sublayer_output + x
        centred = total - total.mean(-1, keepdim=True)
        variance = torch.linalg.vecdot(centred, centred, dim=-1).unsqueeze(-1) / total.shape[-1]
        return torch.addcmul(self.norm.bias, centred * torch.rsqrt(variance + 1e-5), self.norm.weight)
