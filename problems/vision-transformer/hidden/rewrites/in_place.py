"""Tokens written into a tensor of its own, tokens first inside, sums and masks in place on own temporaries."""

import torch
from torch import nn
from torch.nn import functional as F


class PatchEmbedding(nn.Module):
    def __init__(self, img_size, patch_size, in_channels, d_model):
        super().__init__()
        try:
            height, width = img_size
        except TypeError:
            height = width = img_size
        try:
            rows, columns = patch_size
        except TypeError:
            rows = columns = patch_size
        self.top, self.left = range(0, height, rows), range(0, width, columns)
        self.size = height, width
        self.projection = nn.Conv2d(in_channels, d_model, (rows, columns), (rows, columns))
        if self.top[-1] + rows != height or self.left[-1] + columns != width:
            raise ValueError(f"no whole number of {rows} x {columns} patches in {height} x {width}")

    def __len__(self):
        return len(self.top) * len(self.left)

    def write(self, images, tokens):
        """Patches (batch, channels, rows, columns), each projected by itself, into tokens (num_patches, batch, d)."""
        if images.size(2) != self.size[0] or images.size(3) != self.size[1]:
            raise ValueError(f"size {images.size(2)} x {images.size(3)}")
        rows, columns = self.projection.kernel_size
        corners = [(top, left) for top in self.top for left in self.left]
        for index, (top, left) in enumerate(corners):
            tokens[index] += self.projection(images[..., top : top + rows, left : left + columns]).flatten(1)


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.h = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        t, b, d = x.shape
        # (tokens, batch * heads, d_head) to (batch * heads, tokens, d_head), batch-major
        q, k, v = (f(x).view(t, b * self.h, -1).transpose(0, 1) for f in (self.q_proj, self.k_proj, self.v_proj))
        scores = torch.bmm(q, k.mT).mul_((d // self.h) ** -0.5)
        weights = scores.sub_(scores.detach().amax(-1, keepdim=True)).exp()
        weights = weights / weights.sum(-1, keepdim=True)
        return self.o_proj((self.dropout(weights) @ v).transpose(0, 1).reshape(t, b, d))


class MLP(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout, inplace=True)

    def forward(self, x):
        return self.dropout(self.fc2(self.dropout(F.gelu(self.fc1(x)))))


class Block(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        if d_model // num_heads * num_heads < d_model:
            raise ValueError(f"{d_model} features can't be shared by {num_heads} heads")
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x):
        first = self.attention(self.norm1(x))
        first += x
        second = self.mlp(self.norm2(first))
        second += first
        return second


class VisionTransformer(nn.Module):
    def __init__(
        self, img_size, patch_size, in_channels, d_model, d_ff, num_heads, num_blocks, num_classes, dropout=0.0
    ):
        if num_blocks < 0:
            raise ValueError(f"a transformer of {num_blocks} blocks")
        super().__init__()
        self.patch_embedding = PatchEmbedding(img_size, patch_size, in_channels, d_model)
        self.cls_token = nn.Parameter(torch.empty(1, 1, d_model).normal_(std=0.02))
        self.positions = nn.Parameter(torch.empty(1, len(self.patch_embedding) + 1, d_model).normal_(std=0.02))
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, dropout) for _ in range(num_blocks)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, images):
        batch = images.size(0)
        tokens = self.positions.transpose(0, 1).repeat(1, batch, 1)  # (tokens, batch, d_model)
        tokens[0] += self.cls_token[0]
        self.patch_embedding.write(images, tokens[1:])
        x = self.dropout(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[0]))
