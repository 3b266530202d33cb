"""From first principles: patches by reshape, own mean and variance, own softmax, the error function, own masks."""

import math

import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return self.weight * centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt() + self.bias


class Affine(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) / math.sqrt(inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

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


class Patches(nn.Module):
    def __init__(self, size, patch, channels, d):
        super().__init__()
        if size[0] % patch[0] or size[1] % patch[1]:
            raise ValueError(f"patches of {patch} don't fill an image of {size}")
        self.size, self.grid, self.patch = size, (size[0] // patch[0], size[1] // patch[1]), patch
        self.projection = nn.Conv2d(channels, d, patch, patch)

    def forward(self, images):
        if tuple(images.shape[2:]) != self.size:
            raise ValueError(f"images are {tuple(images.shape[2:])}, not {self.size}")
        b, c, _, _ = images.shape
        pieces = images.reshape(b, c, self.grid[0], self.patch[0], self.grid[1], self.patch[1])
        pieces = pieces.permute(0, 2, 4, 1, 3, 5).reshape(b, self.grid[0] * self.grid[1], -1)
        return pieces @ self.projection.weight.reshape(self.projection.weight.shape[0], -1).T + self.projection.bias


class Attention(nn.Module):
    def __init__(self, d, heads, p):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = Affine(d, d), Affine(d, d), Affine(d, d), Affine(d, d)
        self.drop, self.heads = Drop(p), heads

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (f(x).reshape(b, t, self.heads, -1) for f in (self.q_proj, self.k_proj, self.v_proj))
        scores = (q[:, :, None] * k[:, None]).sum(-1) / math.sqrt(d // self.heads)  # (b, q, k, heads)
        exponentials = (scores - scores.detach().amax(2, keepdim=True)).exp()
        weights = self.drop(exponentials / exponentials.sum(2, keepdim=True))
        mixed = (weights[..., None] * v[:, None]).sum(2)  # (b, q, heads, d_head)
        return self.o_proj(mixed.reshape(b, t, d))


class MLP(nn.Module):
    def __init__(self, d, f, p):
        super().__init__()
        self.fc1, self.fc2, self.drop = Affine(d, f), Affine(f, d), Drop(p)

    def forward(self, x):
        h = self.fc1(x)
        return self.drop(self.fc2(self.drop(h * 0.5 * (1 + torch.erf(h / math.sqrt(2))))))


class Block(nn.Module):
    def __init__(self, d, heads, f, p):
        super().__init__()
        if d % heads:
            raise ValueError(f"{heads} heads")
        self.norm1, self.norm2 = LayerNorm(d), LayerNorm(d)
        self.attention, self.mlp = Attention(d, heads, p), MLP(d, f, p)

    def forward(self, x):
        x = self.attention(self.norm1(x)) + x
        return self.mlp(self.norm2(x)) + x


class VisionTransformer(nn.Module):
    def __init__(
        self, img_size, patch_size, in_channels, d_model, d_ff, num_heads, num_blocks, num_classes, dropout=0.0
    ):
        super().__init__()
        if num_blocks < 0:
            raise ValueError(num_blocks)
        img_size, patch_size = ((s, s) if isinstance(s, int) else tuple(s) for s in (img_size, patch_size))
        self.patch_embedding = Patches(img_size, patch_size, in_channels, d_model)
        self.cls_token = nn.Parameter(torch.randn(1, 1, d_model))
        rows, columns = self.patch_embedding.grid
        self.positions = nn.Parameter(torch.randn(1, 1 + rows * columns, d_model))
        self.blocks = nn.ModuleList()
        while len(self.blocks) < num_blocks:
            self.blocks.append(Block(d_model, num_heads, d_ff, dropout))
        self.norm, self.head, self.drop = LayerNorm(d_model), Affine(d_model, num_classes), Drop(dropout)

    def forward(self, images):
        tokens = self.patch_embedding(images)
        tokens = torch.cat((self.cls_token.repeat(images.shape[0], 1, 1), tokens), 1)
        tokens = self.drop(tokens + self.positions)
        for block in self.blocks:
            tokens = block(tokens)
        return self.head(self.norm(tokens[:, 0, :]))
