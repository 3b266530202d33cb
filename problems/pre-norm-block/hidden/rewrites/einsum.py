"""Einsum throughout: the projections are cut into heads as weights, and no activation is ever reshaped."""

import torch
from torch import einsum, nn


class PreNormBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if num_heads * (d_model // num_heads) != d_model:
            raise ValueError(f"d_model={d_model} can't be cut into {num_heads} heads")
        self.num_heads = num_heads
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = nn.Module()
        for name in "qkvo":
            setattr(self.attention, name + "_proj", nn.Linear(d_model, d_model))
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = nn.Module()
        self.mlp.fc1 = nn.Linear(d_model, d_ff)
        self.mlp.fc2 = nn.Linear(d_ff, d_model)
        self.drop = nn.Dropout(dropout)

    def project(self, layer, x):
        weight = layer.weight.unflatten(0, (self.num_heads, -1))  # (heads, d_head, d_model)
        bias = layer.bias.unflatten(0, (self.num_heads, 1, -1))
        return einsum("btd,hed->bhte", x, weight) + bias

    def attend(self, x, mask):
        q = self.project(self.attention.q_proj, x)
        k = self.project(self.attention.k_proj, x)
        v = self.project(self.attention.v_proj, x)
        scores = einsum("bhqe,bhke->bhqk", q * q.shape[-1] ** -0.5, k)
        if mask is not None:
            scores = torch.where(mask, scores, -1e30)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights * mask.any(-1, keepdim=True)
        weights = self.drop(weights)
        out = self.attention.o_proj.weight.unflatten(1, (self.num_heads, -1))  # (d_model, heads, d_head)
        return einsum("bhqk,bhke,dhe->bqd", weights, v, out) + self.attention.o_proj.bias

    def transform(self, x):
        hidden = nn.functional.gelu(einsum("btd,fd->btf", x, self.mlp.fc1.weight) + self.mlp.fc1.bias)
        return self.drop(einsum("btf,df->btd", self.drop(hidden), self.mlp.fc2.weight) + self.mlp.fc2.bias)

    def forward(self, x, mask=None):
        x = x + self.attend(self.norm1(x), mask)
        return x + self.transform(self.norm2(x))
