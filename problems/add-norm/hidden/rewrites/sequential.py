"""Style: a subclass of the layer norm as submodule, dropout as a Bernoulli draw, the sum in place on its own copy."""

import torch
from torch import nn


class Norm(nn.LayerNorm):
    def forward(self, *terms):
        total = terms[0].clone()
        for term in terms[1:]:
            total += term
        return super().forward(total)


class Drop(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0:
            return x
        return x * torch.empty_like(x).bernoulli_(1 - self.p).div_(1 - self.p)


class AddNorm(nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()
        self._build(*args, **kwargs)

    def _build(self, d_model, dropout=0.0):
        self.drop, self.norm = Drop(dropout), Norm((d_model,))

    def forward(self, x, sublayer_output):
        for name, (mine, other) in enumerate(zip(x.shape, sublayer_output.shape, strict=False)):
            if mine != other:
                raise ValueError(f"dimension {name} is {mine} in x and {other} in sublayer_output")
        if x.ndim != sublayer_output.ndim:
            raise ValueError(f"x has {x.ndim} dimensions and sublayer_output {sublayer_output.ndim}")
        return self.norm(x, self.drop(sublayer_output))
