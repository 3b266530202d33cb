"""Two paths, one for each mode, one product for all projections, and a block that owns every layer itself."""

import torch
from torch import nn
from torch.nn import functional as F


class HeadCountError(ValueError):
    """A number of heads that does not divide the width."""


class Block(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        if d_model % num_heads > 0:
            raise HeadCountError(f"num_heads={num_heads}, d_model={d_model}")
        super().__init__()
        self.num_heads, self.p = num_heads, dropout
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = nn.ModuleDict({f"{name}_proj": nn.Linear(d_model, d_model) for name in "qkvo"})
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})

    def forward(self, x, mask=None):
        q, k, v = self.project(self.norm1(x))
        heads = self.drop_and_attend(q, k, v, mask) if self.training else self.attend(q, k, v, mask)
        x = x + self.attention["o_proj"](torch.cat(heads.unbind(1), dim=-1))
        return x + self.transform(self.norm2(x))

    def project(self, x):
        maps = [self.attention[f"{name}_proj"] for name in "qkv"]
        joined = F.linear(x, torch.cat([m.weight for m in maps]), torch.cat([m.bias for m in maps]))
        return joined.unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)

    @staticmethod
    def attend(q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    def drop_and_attend(self, q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=self.p)

    def transform(self, x):
        hidden = F.gelu(self.mlp["fc1"](x))
        if not self.training:
            return self.mlp["fc2"](hidden)
        return F.dropout(self.mlp["fc2"](F.dropout(hidden, self.p)), self.p)
