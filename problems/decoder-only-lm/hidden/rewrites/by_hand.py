"""From first principles: own lookup, norm, error function, softmax and dropout; the embedding module is the head."""

import math

import torch
from torch import nn


class Table(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.weight = nn.Parameter(0.02 * torch.randn(rows, columns))


class LayerNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.bias = nn.Parameter(torch.zeros(d))

    def forward(self, x):
        centred = x - x.mean(dim=-1, keepdim=True)
        return self.weight * centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt() + self.bias


class Affine(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) / math.sqrt(inputs))
        self.bias = nn.Parameter(torch.randn(outputs) * 0.01)

    def forward(self, x):
        return x @ self.weight.T + self.bias


class Block(nn.Module):
    def __init__(self, d, heads, d_ff):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = LayerNorm(d), LayerNorm(d)
        self.attention, self.mlp = nn.Module(), nn.Module()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self.attention, name, Affine(d, d))
        self.mlp.fc1, self.mlp.fc2 = Affine(d, d_ff), Affine(d_ff, d)

    def forward(self, x, drop):
        x = x + self.attend(self.norm1(x), drop)
        hidden = self.mlp.fc1(self.norm2(x))
        activated = hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2
        return x + drop(self.mlp.fc2(drop(activated)))

    def attend(self, x, drop):
        b, t, d = x.shape
        a = self.attention
        q, k, v = (f(x).reshape(b, t, self.heads, -1) for f in (a.q_proj, a.k_proj, a.v_proj))
        scores = (q[:, :, None] * k[:, None]).sum(-1).movedim(-1, 1) / math.sqrt(d // self.heads)  # (b, heads, q, k)
        steps = torch.arange(t, device=x.device)
        raised = (scores - scores.amax(-1, keepdim=True)).exp() * (steps[:, None] >= steps)
        weights = drop(raised / raised.sum(-1, keepdim=True))
        mixed = (weights.unsqueeze(-1) * v.movedim(2, 1)[:, :, None]).sum(-2)  # (b, heads, q, d_head)
        return a.o_proj(mixed.movedim(1, 2).reshape(b, t, d))


class DecoderOnlyLM(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        if d_model % num_heads or num_blocks < 0:
            raise ValueError(f"no model has d_model={d_model}, num_heads={num_heads}, num_blocks={num_blocks}")
        self.keep = 1 - dropout
        self.tokens, self.positions = Table(vocab_size, d_model), Table(max_len, d_model)
        self.blocks = nn.ModuleDict({str(i): Block(d_model, num_heads, d_ff) for i in range(num_blocks)})
        self.norm = LayerNorm(d_model)
        self.head = self.tokens  # one module under both names

    def drop(self, x):
        if not self.training or self.keep == 1:
            return x
        return x * torch.bernoulli(torch.full_like(x, self.keep)) / self.keep

    def forward(self, ids, offset=0):
        rows = range(offset, offset + ids.shape[1])
        if rows.start < 0 or rows.stop > len(self.positions.weight):
            raise ValueError(f"positions {rows.start} to {rows.stop - 1} do not exist (offset {offset})")
        x = self.drop(self.tokens.weight[ids] + self.positions.weight[list(rows)])
        for block in self.blocks.values():
            x = block(x, self.drop)
        return self.norm(x) @ self.head.weight.T
