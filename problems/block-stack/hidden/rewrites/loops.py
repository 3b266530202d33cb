"""Loops over sequences, heads and queries; the parameters are looked up by name in functional calls."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Pair(nn.Module):
    """A weight and a bias."""

    def __init__(self, *shape):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(shape))
        self.bias = nn.Parameter(torch.zeros(shape[0]))
        if len(shape) == 2:
            nn.init.xavier_uniform_(self.weight)


class Tree(nn.Module):
    """Named children, nothing else."""

    def __init__(self, **children):
        super().__init__()
        for name, child in children.items():
            setattr(self, name, child)


class BlockStack(nn.Module):
    def __init__(self, num_blocks, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        if num_blocks < 0:
            raise ValueError(f"the depth {num_blocks} is negative")
        self.d_head, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"num_heads {num_heads} leaves {rest} features over")
        self.blocks = nn.ModuleList()
        while len(self.blocks) < num_blocks:
            square = {f"{name}_proj": Pair(d_model, d_model) for name in "qkvo"}
            mlp = Tree(fc1=Pair(d_ff, d_model), fc2=Pair(d_model, d_ff))
            self.blocks.append(Tree(norm1=Pair(d_model), attention=Tree(**square), norm2=Pair(d_model), mlp=mlp))
        if norm_first:
            self.norm = Pair(d_model)

    def forward(self, x, mask=None, return_stream=False):
        stream = [x]
        for block in self.blocks:
            stream.append(
                self.post(block, stream[-1], mask) if not hasattr(self, "norm") else self.pre(block, stream[-1], mask)
            )
        output = normalize(stream[-1], self.norm) if hasattr(self, "norm") else stream[-1]
        if not return_stream:
            return output
        return output, stream

    def pre(self, block, x, mask):
        x = x + self.attend(block.attention, normalize(x, block.norm1), mask)
        return x + feed(block.mlp, normalize(x, block.norm2))

    def post(self, block, x, mask):
        x = normalize(x + self.attend(block.attention, x, mask), block.norm1)
        return normalize(x + feed(block.mlp, x), block.norm2)

    def attend(self, layers, x, mask):
        batch, seq_len, d_model = x.shape
        heads = d_model // self.d_head
        if mask is None:
            mask = torch.ones(1, 1, dtype=torch.bool, device=x.device)
        mask = mask.expand(batch, heads, seq_len, seq_len)
        rows = []
        for b in range(batch):
            q, k, v = (F.linear(x[b], p.weight, p.bias) for p in (layers.q_proj, layers.k_proj, layers.v_proj))
            parts = [
                one_head(q[:, h : h + self.d_head], k[:, h : h + self.d_head], v[:, h : h + self.d_head], mask[b, i])
                for i, h in enumerate(range(0, d_model, self.d_head))
            ]
            rows.append(F.linear(torch.cat(parts, dim=1), layers.o_proj.weight, layers.o_proj.bias))
        return torch.stack(rows)


def one_head(q, k, v, mask):
    results = []
    for query, visible in zip(q, mask, strict=True):
        scores = (k @ query / math.sqrt(len(query))).masked_fill(~visible, -1e30 if k.dtype != torch.float16 else -6e4)
        results.append((scores.softmax(0) * visible) @ v)
    return torch.stack(results)


def feed(layers, x):
    return F.linear(F.gelu(F.linear(x, layers.fc1.weight, layers.fc1.bias)), layers.fc2.weight, layers.fc2.bias)


def normalize(x, pair):
    return F.layer_norm(x, x.shape[-1:], pair.weight, pair.bias, 1e-5)
