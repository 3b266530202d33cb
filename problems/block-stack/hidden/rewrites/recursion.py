"""Recursion over the depth, einsum attention with the heads cut from the weights, and own norm, GELU and softmax."""

import math

import torch
from torch import einsum, nn


class Affine(nn.Module):
    def __init__(self, outputs, inputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) / math.sqrt(inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return x @ self.weight.T + self.bias


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + 1e-5) * self.weight + self.bias


class Block(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.heads = num_heads
        self.norm1, self.norm2 = Norm(d_model), Norm(d_model)
        self.attention, self.mlp = nn.Module(), nn.Module()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self.attention, name, Affine(d_model, d_model))
        self.mlp.fc1, self.mlp.fc2 = Affine(d_ff, d_model), Affine(d_model, d_ff)

    def project(self, x, layer):
        weight = layer.weight.unflatten(0, (self.heads, -1))
        return einsum("btd,hed->bthe", x, weight) + layer.bias.unflatten(0, (self.heads, -1))

    def attend(self, x, mask):
        layers = self.attention
        q, k, v = (self.project(x, layer) for layer in (layers.q_proj, layers.k_proj, layers.v_proj))
        scores = einsum("bqhe,bkhe->bhqk", q, k) * q.shape[-1] ** -0.5
        allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
        top = torch.where(allowed, scores.detach(), scores.detach().min()).amax(-1, keepdim=True)
        powers = torch.where(allowed, scores - top, 0.0).exp() * allowed
        weights = powers / powers.sum(-1, keepdim=True).clamp(min=1e-30)
        return layers.o_proj(einsum("bhqk,bkhe->bqhe", weights, v).flatten(2))

    def transform(self, x):
        hidden = self.mlp.fc1(x)
        return self.mlp.fc2(0.5 * hidden * (1 + torch.erf(hidden * 0.5**0.5)))


class BlockStack(nn.Module):
    def __init__(self, num_blocks, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        if num_blocks < 0 or d_model % num_heads:
            raise ValueError(f"{num_blocks} blocks of width {d_model} with {num_heads} heads can't be made")
        self.first = norm_first
        self.blocks = nn.ModuleDict({str(i): Block(d_model, num_heads, d_ff) for i in range(num_blocks)})
        if norm_first:
            self.add_module("norm", Norm(d_model))

    def step(self, block, x, mask):
        for norm, sublayer in ((block.norm1, lambda h: block.attend(h, mask)), (block.norm2, block.transform)):
            x = x + sublayer(norm(x)) if self.first else norm(x + sublayer(x))
        return x

    def run(self, x, mask, depth):
        if depth == 0:
            return [x]
        before = self.run(x, mask, depth - 1)
        return [*before, self.step(self.blocks[str(depth - 1)], before[-1], mask)]

    def forward(self, x, mask=None, return_stream=False):
        stream = self.run(x, mask, len(self.blocks))
        end = self.norm(stream[-1]) if self.first else stream[-1]
        return (end, stream) if return_stream else end
