"""From first principles: own mean and variance, the error function, own softmax and Bernoulli masks for dropout."""

import math

import torch
from torch import nn


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


class Drop(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.keep = 1 - p

    def forward(self, x):
        if not self.training or self.keep == 1:
            return x
        return x * torch.bernoulli(torch.full_like(x, self.keep)) / self.keep


class Attention(nn.Module):
    def __init__(self, d, heads, p):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = Affine(d, d), Affine(d, d), Affine(d, d), Affine(d, d)
        self.drop, self.heads = Drop(p), heads

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = (f(x).reshape(b, t, self.heads, -1) for f in (self.q_proj, self.k_proj, self.v_proj))
        scores = (q[:, :, None] * k[:, None]).sum(-1).movedim(-1, 1) / math.sqrt(d // self.heads)  # (b, heads, q, k)
        allowed = torch.ones_like(scores) if mask is None else mask.expand_as(scores).to(scores.dtype)
        lowest = scores.detach().amin().sub(1)
        top = torch.where(allowed > 0, scores.detach(), lowest).amax(-1, keepdim=True)
        exponentials = torch.where(allowed > 0, scores - top, torch.zeros_like(scores)).exp() * allowed
        weights = exponentials / exponentials.sum(-1, keepdim=True).clamp(min=1e-30)
        mixed = (self.drop(weights).unsqueeze(-1) * v.movedim(2, 1)[:, :, None]).sum(-2)  # (b, heads, q, d_head)
        return self.o_proj(mixed.movedim(1, 2).reshape(b, t, d))


class MLP(nn.Module):
    def __init__(self, d, f, p):
        super().__init__()
        self.fc1, self.fc2, self.drop = Affine(d, f), Affine(f, d), Drop(p)

    def forward(self, x):
        h = self.fc1(x)
        return self.drop(self.fc2(self.drop(h * 0.5 * (1 + torch.erf(h / math.sqrt(2))))))


class PreNormBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % num_heads > 0:
            raise ValueError(num_heads)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads, dropout)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x, mask=None):
        x = self.attention(self.norm1(x), mask) + x
        return self.mlp(self.norm2(x)) + x
