"""Style: loops over sequences and heads, norms by hand, blind rows left out by hand, dropout as a Bernoulli draw."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Drop(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.keep = 1 - p

    def forward(self, x):
        if self.training and self.keep < 1:
            return x * torch.bernoulli(torch.full_like(x, self.keep)) / self.keep
        return x


class Norm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
        return (x - mean) * (variance + 1e-5).rsqrt() * self.weight + self.bias


class TransformerEncoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        d_head, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"num_heads={num_heads} leaves a rest of {rest} features")
        self.chunks = [slice(h * d_head, (h + 1) * d_head) for h in range(num_heads)]
        self.drop = Drop(dropout)
        self.attention = nn.ModuleDict({f"{name}_proj": nn.Linear(d_model, d_model) for name in "qkvo"})
        self.addnorm1, self.addnorm2 = nn.ModuleDict({"norm": Norm(d_model)}), nn.ModuleDict({"norm": Norm(d_model)})
        self.ffn = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})

    def forward(self, x, mask=None):
        if mask is None:
            mask = x.new_ones((), dtype=torch.bool)
        mask = mask.expand(len(x), len(self.chunks), x.shape[1], x.shape[1])
        return torch.stack([self.one(row, heads) for row, heads in zip(x, mask, strict=True)])

    def one(self, x, masks):  # (seq_len, d_model), (heads, seq_len, seq_len)
        heads = [self.head(x, chunk, mask) for chunk, mask in zip(self.chunks, masks, strict=True)]
        y = self.addnorm1["norm"](x + self.drop(self.attention["o_proj"](torch.cat(heads, dim=-1))))
        hidden = torch.relu(self.ffn["fc1"](y))
        return self.addnorm2["norm"](y + self.drop(self.ffn["fc2"](hidden)))

    def head(self, x, chunk, mask):
        layers = (self.attention[f"{name}_proj"] for name in "qkv")
        q, k, v = (F.linear(x, layer.weight[chunk], layer.bias[chunk]) for layer in layers)
        sees = mask.any(-1, keepdim=True)
        scores = (q @ k.t()) / math.sqrt(q.shape[-1])
        weights = scores.masked_fill(~(mask | ~sees), -math.inf).softmax(-1)
        return self.drop(torch.where(sees, weights, 0.0)) @ v
