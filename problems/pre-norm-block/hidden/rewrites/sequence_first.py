"""Sequence first inside, a transposed view as result, weights kept for inspection, more arguments, its own error."""

import torch
from torch import nn
from torch.nn import functional as F


class HeadCountError(ValueError):
    """A number of heads that does not divide the width."""


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        if d_model % num_heads:
            raise HeadCountError(f"num_heads={num_heads}, d_model={d_model}")
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.num_heads, self.dropout, self.last_weights = num_heads, dropout, None

    def forward(self, x, mask=None):  # (seq_len, batch, d_model)
        t, b, d = x.shape
        # (seq_len, batch * heads, d_head) to (batch * heads, seq_len, d_head), batch-major
        q, k, v = (
            layer(x).contiguous().view(t, b * self.num_heads, d // self.num_heads).transpose(0, 1)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        bias = x.new_zeros(b * self.num_heads, t, t)
        if mask is not None:
            mask = mask.expand(b, self.num_heads, t, t).flatten(0, 1)
            bias = bias.masked_fill(~mask, -1e30)
        weights = F.softmax(torch.baddbmm(bias, q, k.transpose(1, 2), alpha=(d // self.num_heads) ** -0.5), dim=2)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0)
        self.last_weights = weights.detach().view(b, self.num_heads, t, t)
        heads = F.dropout(weights, p=self.dropout, training=self.training) @ v
        return self.o_proj(heads.transpose(0, 1).reshape(t, b, d))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1, self.fc2, self.activation = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model), nn.GELU()
        self.inner, self.outer = nn.Dropout(dropout), nn.Dropout(dropout)

    def forward(self, x):
        return self.outer(self.fc2(self.inner(self.activation(self.fc1(x)))))


class PreNormBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, *, layer_norm_eps=1e-5, name="block"):
        super().__init__()
        self.name = name
        self.norm1 = nn.LayerNorm(d_model, eps=layer_norm_eps)
        self.attention = Attention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model, eps=layer_norm_eps)
        self.mlp = FeedForward(d_model, d_ff, dropout)

    def forward(self, x, mask=None, *_, need_weights=False, **__):
        stream = x.transpose(0, 1)
        for norm, sublayer, extra in ((self.norm1, self.attention, (mask,)), (self.norm2, self.mlp, ())):
            stream = stream + sublayer(norm(stream), *extra)
        output = stream.transpose(0, 1)
        return (output, self.attention.last_weights) if need_weights else output
