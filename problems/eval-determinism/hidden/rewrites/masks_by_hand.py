"""Dropout masks drawn by hand in training, loops over the heads, in-place work on its own temporaries."""

import torch
from torch import nn


def dropped(x, p, training):
    """x with each element kept by a draw of its own, and scaled up."""
    if not training or p == 0:
        return x
    return x * torch.empty_like(x).bernoulli_(1 - p).div_(1 - p)


class SelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, p):
        super().__init__()
        self.heads, self.p = num_heads, p
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask):
        if mask is not None:
            mask = mask.expand(len(x), self.heads, x.shape[1], x.shape[1])
        parts = zip(*(layer(x).chunk(self.heads, -1) for layer in (self.q_proj, self.k_proj, self.v_proj)), strict=True)
        mixed = [self.head(q, k, v, None if mask is None else mask[:, h]) for h, (q, k, v) in enumerate(parts)]
        return self.o_proj(torch.cat(mixed, -1))

    def head(self, q, k, v, mask):
        scores = torch.bmm(q, k.mT).mul_(q.shape[-1] ** -0.5)
        if mask is not None:
            scores.masked_fill_(~mask, -torch.inf)
            sees = mask.any(-1, keepdim=True)
            scores = scores.masked_fill(~sees, 0.0)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights * sees
        return torch.bmm(dropped(weights, self.p, self.training), v)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, p):
        super().__init__()
        self.fc1, self.fc2, self.p = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model), p

    def forward(self, x):
        z = self.fc1(x)
        hidden = z * 0.5 * (1 + torch.erf(z * 0.5**0.5))
        return dropped(self.fc2(dropped(hidden, self.p, self.training)), self.p, self.training)


class Block(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} features can't be shared by {num_heads} heads")
        self.norm1, self.attention = nn.LayerNorm(d_model), SelfAttention(d_model, num_heads, dropout)
        self.norm2, self.mlp = nn.LayerNorm(d_model), FeedForward(d_model, d_ff, dropout)

    def forward(self, x, mask=None):
        first = self.attention(self.norm1(x), mask)
        first += x
        second = self.mlp(self.norm2(first))
        second += first
        return second
