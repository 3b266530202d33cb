"""Style: one residual function that takes norm and sublayer, generic arguments, an error class of its own."""

import math

import torch
from torch import nn

MOVED_LINES = tuple(sorted(["L8", "L4"]))
REWIRED_LINES = [f"L{number}" for number in (5, 1)]


class HeadError(ValueError):
    """The heads do not divide the width."""


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, mask=None):
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        query = self.q_proj(x).view(shape) / math.sqrt(shape[-1])
        key, value = self.k_proj(x).view(shape), self.v_proj(x).view(shape)
        scores = torch.einsum("bqhd,bkhd->bhqk", query, key)
        weights = scores.softmax(-1) if mask is None else self.masked(scores, mask)
        return self.o_proj(torch.einsum("bhqk,bkhd->bqhd", weights, value).reshape(batch, length, width))

    @staticmethod
    def masked(scores, mask):
        empty = ~mask.any(dim=-1, keepdim=True)
        open_rows = mask | empty  # a row that sees nothing is opened for the softmax and zeroed behind it
        return torch.where(open_rows, scores, -torch.inf).softmax(-1).masked_fill(empty, 0)


class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, **unused):
        super().__init__()
        if d_model / num_heads != d_model // num_heads:
            raise HeadError(f"{num_heads} heads for a width of {d_model}")
        self.mlp = nn.Sequential()
        self.mlp.add_module("fc1", nn.Linear(d_model, d_ff))
        self.mlp.add_module("relu", nn.ReLU())
        self.mlp.add_module("fc2", nn.Linear(d_ff, d_model))
        self.norm2 = nn.LayerNorm(normalized_shape=[d_model])
        self.attention = Attention(d_model, num_heads)
        self.norm1 = nn.LayerNorm(normalized_shape=[d_model])
        self.branch_dropout = nn.Dropout(dropout)

    def forward(self, *args, **kwargs):
        return self.run(*args, **kwargs)

    def run(self, x, mask=None):
        x = self.residual(x, self.norm1, self.attention, mask)
        return self.residual(x, self.norm2, self.mlp)

    def residual(self, x, norm, sublayer, *more):
        return torch.add(x, self.branch_dropout(sublayer(norm(x), *more)))
