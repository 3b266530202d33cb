"""Loops over sequences and heads, functional calls on bare parameters, rows that see nothing left out by hand."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Linear(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        bound = 1 / math.sqrt(columns)
        self.weight = nn.Parameter(torch.empty(rows, columns).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(rows))


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], self.weight, self.bias, 1e-5)


class PreNormBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        d_head, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"num_heads={num_heads} leaves a rest of {rest} features")
        self.chunks = [slice(h * d_head, (h + 1) * d_head) for h in range(num_heads)]
        self.scale = math.sqrt(d_head)
        self.p = dropout
        self.norm1, self.norm2 = Norm(d_model), Norm(d_model)
        self.attention, self.mlp = nn.Module(), nn.Module()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            self.attention.add_module(name, Linear(d_model, d_model))
        self.mlp.add_module("fc1", Linear(d_ff, d_model))
        self.mlp.add_module("fc2", Linear(d_model, d_ff))

    def forward(self, x, mask=None):
        if mask is not None:
            mask = mask.expand(len(x), len(self.chunks), x.shape[1], x.shape[1])
        rows = [self.one(row, None if mask is None else mask[b]) for b, row in enumerate(x)]
        return torch.stack(rows)

    def one(self, x, mask):
        layers, normed = self.attention, self.norm1(x)
        heads = []
        for h, chunk in enumerate(self.chunks):
            q, k, v = (
                F.linear(normed, layer.weight[chunk], layer.bias[chunk])
                for layer in (layers.q_proj, layers.k_proj, layers.v_proj)
            )
            heads.append(self.head(q, k, v, None if mask is None else mask[h]))
        x = x + F.linear(torch.cat(heads, -1), layers.o_proj.weight, layers.o_proj.bias)
        hidden = F.gelu(F.linear(self.norm2(x), self.mlp.fc1.weight, self.mlp.fc1.bias))
        out = F.linear(F.dropout(hidden, self.p, self.training), self.mlp.fc2.weight, self.mlp.fc2.bias)
        return x + F.dropout(out, self.p, self.training)

    def head(self, q, k, v, mask):
        scores = torch.mm(q, k.t()) / self.scale
        if mask is None:
            return F.dropout(scores.softmax(-1), self.p, self.training).mm(v)
        sees = mask.any(-1, keepdim=True)
        weights = scores.masked_fill(~(mask | ~sees), -math.inf).softmax(-1)
        return F.dropout(torch.where(sees, weights, 0.0), self.p, self.training).mm(v)
