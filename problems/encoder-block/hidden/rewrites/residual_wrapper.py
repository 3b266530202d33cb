"""Style: add and norm subclassing the layer's container, joined projections, PyTorch's fused attention."""

import torch
from torch import nn
from torch.nn import functional as F


class HeadCountError(ValueError):
    """A number of heads that does not divide the width."""


class AddNorm(nn.Sequential):
    """Dropout and norm as entries of a sequence that is applied in two steps."""

    def __init__(self, d_model, dropout):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, sublayer, *args, **kwargs):
        return self.norm(torch.add(self.drop(sublayer(x, *args, **kwargs)), x))


class SelfAttention(nn.ModuleDict):
    def __init__(self, d_model, num_heads, dropout):
        if d_model % num_heads:
            raise HeadCountError(f"{num_heads} heads do not fit into {d_model} features")
        super().__init__({f"{name}_proj": nn.Linear(d_model, d_model) for name in "qkvo"})
        self.heads, self.p = num_heads, dropout

    def forward(self, x, mask=None):
        maps = [self[f"{name}_proj"] for name in "qkv"]
        weight, bias = torch.cat([m.weight for m in maps]), torch.cat([m.bias for m in maps])
        q, k, v = F.linear(x, weight, bias).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, mask, self.p * self.training)
        return self["o_proj"](attended.transpose(1, 2).flatten(2))


class TransformerEncoderBlock(nn.Module):
    def __init__(self, d_model: int, d_ff: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.attention = SelfAttention(d_model, num_heads, dropout)
        self.addnorm1, self.addnorm2 = AddNorm(d_model, dropout), AddNorm(d_model, dropout)
        self.ffn = nn.Sequential()
        self.ffn.add_module("fc1", nn.Linear(d_model, d_ff))
        self.ffn.add_module("act", nn.ReLU(inplace=True))
        self.ffn.add_module("fc2", nn.Linear(d_ff, d_model))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        y = self.addnorm1(x, self.attention, mask=mask)
        return self.addnorm2(y, self.ffn)
