"""In-place work on its own temporaries: sums, masks, the softmax and dropout overwrite what the block itself made."""

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.h = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def fold(self, x):
        b, t, d = x.shape
        return x.view(b, t, self.h, d // self.h).transpose(1, 2).reshape(b * self.h, t, d // self.h)

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.fold(self.q_proj(x)), self.fold(self.k_proj(x)), self.fold(self.v_proj(x))
        scores = torch.bmm(q, k.mT).div_((d // self.h) ** 0.5)
        blind = None
        if mask is not None:
            hidden = mask.logical_not().expand(b, self.h, t, t).reshape(b * self.h, t, t)
            blind = hidden.all(-1, keepdim=True)
            scores.masked_fill_(hidden & ~blind, float("-inf"))
        weights = scores.sub_(scores.detach().amax(-1, keepdim=True)).exp()
        weights = weights / weights.sum(-1, keepdim=True)
        if blind is not None:
            weights = weights.masked_fill_(blind, 0)
        out = torch.bmm(self.dropout(weights), v).view(b, self.h, t, -1).transpose(1, 2).reshape(b, t, d)
        return self.o_proj(out)


class MLP(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout, inplace=True)

    def forward(self, x):
        return self.dropout(self.fc2(self.dropout(F.gelu(self.fc1(x)))))


class PreNormBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model // num_heads * num_heads < d_model:
            raise ValueError(f"{d_model} features can't be shared by {num_heads} heads")
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x, mask=None):
        first = self.attention(self.norm1(x), mask)
        first += x
        second = self.mlp(self.norm2(first))
        second += first
        return second
