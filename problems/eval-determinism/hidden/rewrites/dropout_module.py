"""Attention written out, with an nn.Dropout on the weights that follows the mode by itself."""

import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d_model, d_model) for _ in range(4))
        self.attn_drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        batch, seq_len, d_model = x.shape
        q, k, v = (
            layer(x).view(batch, seq_len, self.num_heads, -1).transpose(1, 2)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
        if mask is None:
            weights = scores.softmax(-1)
        else:
            weights = scores.masked_fill(~mask, torch.finfo(x.dtype).min).softmax(-1).masked_fill(~mask, 0)
        heads = torch.einsum("bhqk,bhkd->bqhd", self.attn_drop(weights), v)
        return self.o_proj(heads.reshape(batch, seq_len, d_model))


class MLP(nn.Sequential):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.add_module("fc1", nn.Linear(d_model, d_ff))
        self.add_module("act", nn.GELU())
        self.add_module("drop1", nn.Dropout(dropout))
        self.add_module("fc2", nn.Linear(d_ff, d_model))
        self.add_module("drop2", nn.Dropout(dropout))


class Block(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not fit into {d_model} features")
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads, dropout)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))
