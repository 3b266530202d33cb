"""Loops over sequences, heads and queries; bare parameters, no mask at all: a query is given the keys it may see."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def affine(rows, columns):
    layer = nn.Module()
    layer.weight = nn.Parameter(torch.empty(rows, columns).uniform_(-1, 1) / math.sqrt(columns))
    layer.bias = nn.Parameter(torch.zeros(rows))
    return layer


def apply(layer, x):
    return F.linear(x, layer.weight, layer.bias)


class DecoderOnlyLM(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        d_head, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"num_heads={num_heads} leaves a rest of {rest} features")
        if num_blocks < 0:
            raise ValueError(f"num_blocks={num_blocks}")
        self.chunks = [slice(h * d_head, (h + 1) * d_head) for h in range(num_heads)]
        self.p, self.max_len = dropout, max_len
        table = nn.Parameter(torch.randn(vocab_size, d_model) * 0.1)
        self.tokens, self.positions, self.head = nn.Module(), nn.Module(), nn.Module()
        self.tokens.weight = self.head.weight = table
        self.positions.weight = nn.Parameter(torch.randn(max_len, d_model) * 0.1)
        self.blocks = nn.ModuleList()
        for _ in range(num_blocks):
            block = nn.Module()
            block.norm1, block.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
            block.attention, block.mlp = nn.Module(), nn.Module()
            for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
                block.attention.add_module(name, affine(d_model, d_model))
            block.mlp.fc1, block.mlp.fc2 = affine(d_ff, d_model), affine(d_model, d_ff)
            self.blocks.append(block)
        self.norm = nn.LayerNorm(d_model)

    def drop(self, x):
        return F.dropout(x, self.p, self.training)

    def forward(self, ids, offset=0):
        if not 0 <= offset <= self.max_len - ids.shape[1]:
            raise ValueError(f"offset={offset}, seq_len={ids.shape[1]}, max_len={self.max_len}")
        return torch.stack([self.one(row, offset) for row in ids])

    def one(self, ids, offset):
        x = torch.stack([self.tokens.weight[i] + self.positions.weight[offset + t] for t, i in enumerate(ids)])
        x = self.drop(x)
        for block in self.blocks:
            x = x + self.attend(block.attention, block.norm1(x))
            hidden = self.drop(F.gelu(apply(block.mlp.fc1, block.norm2(x))))
            x = x + self.drop(apply(block.mlp.fc2, hidden))
        return self.norm(x) @ self.head.weight.t()

    def attend(self, maps, x):
        queries, keys, values = (apply(layer, x) for layer in (maps.q_proj, maps.k_proj, maps.v_proj))
        rows = []
        for t in range(len(x)):
            heads = []
            for chunk in self.chunks:
                past_keys, past_values = keys[: t + 1, chunk], values[: t + 1, chunk]
                scores = past_keys @ queries[t, chunk] / math.sqrt(past_keys.shape[1])
                heads.append(self.drop(scores.softmax(0)) @ past_values)
            rows.append(torch.cat(heads))
        return apply(maps.o_proj, torch.stack(rows))
