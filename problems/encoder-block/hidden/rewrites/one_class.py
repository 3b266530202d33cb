"""Style: one forward of functional calls on named parameters, einsum for the heads, no helper modules."""

import torch
import torch.nn.functional as F
from torch import einsum, nn


class TransformerEncoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        if num_heads * (d_model // num_heads) != d_model:
            raise ValueError(f"d_model={d_model} can't be cut into {num_heads} heads")
        self.num_heads, self.p = num_heads, dropout
        self.attention, self.ffn, self.addnorm1, self.addnorm2 = (nn.Module() for _ in range(4))
        for name in "qkvo":
            self.attention.add_module(f"{name}_proj", nn.Linear(d_model, d_model))
        self.ffn.fc1, self.ffn.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.addnorm1.norm, self.addnorm2.norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def drop(self, x):
        return F.dropout(x, self.p, training=self.training)

    def project(self, layer, x):
        weight = layer.weight.unflatten(0, (self.num_heads, -1))  # (heads, d_head, d_model)
        return einsum("btd,hed->bhte", x, weight) + layer.bias.unflatten(0, (self.num_heads, 1, -1))

    def forward(self, x, mask=None):
        q, k, v = (self.project(getattr(self.attention, f"{name}_proj"), x) for name in "qkv")
        scores = einsum("bhqe,bhke->bhqk", q * q.shape[-1] ** -0.5, k)
        if mask is None:
            weights = scores.softmax(-1)
        else:
            weights = torch.where(mask, scores, -1e30).softmax(-1) * mask.any(-1, keepdim=True)
        out = self.attention.o_proj
        weight = out.weight.unflatten(1, (self.num_heads, -1))  # (d_model, heads, d_head)
        attended = einsum("bhqk,bhke,dhe->bqd", self.drop(weights), v, weight) + out.bias
        y = self.addnorm1.norm(x + self.drop(attended))
        return self.addnorm2.norm(self.drop(self.ffn.fc2(F.relu(self.ffn.fc1(y)))) + y)
