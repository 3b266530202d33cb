"""Containers with the asked keys: a ModuleDict for the projections, an ordered Sequential for the whole MLP."""

from collections import OrderedDict

import torch
from torch import nn


class SelfAttention(nn.ModuleDict):
    """The projections are the entries of the dict itself."""

    def __init__(self, d_model, num_heads, dropout):
        super().__init__({f"{name}_proj": nn.Linear(d_model, d_model) for name in "qkvo"})
        self.num_heads = num_heads
        self.p = dropout

    def forward(self, x, mask=None):
        q, k, v = (self[f"{name}_proj"](x).chunk(self.num_heads, dim=-1) for name in "qkv")
        q, k, v = (torch.stack(chunks, dim=1) for chunks in (q, k, v))
        attended = nn.functional.scaled_dot_product_attention(q, k, v, mask, self.p * self.training)
        return self["o_proj"](torch.cat(attended.unbind(1), dim=-1))


class PreNormBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads must divide d_model, got {num_heads} and {d_model}")
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = SelfAttention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model)
        steps = OrderedDict(fc1=nn.Linear(d_model, d_ff), act=nn.GELU(), drop1=nn.Dropout(dropout))
        steps.update(fc2=nn.Linear(d_ff, d_model), drop2=nn.Dropout(dropout))
        self.mlp = nn.Sequential(steps)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        x = torch.add(x, self.attention(self.norm1(x), mask=mask))
        return torch.add(x, self.mlp(self.norm2(x)))
