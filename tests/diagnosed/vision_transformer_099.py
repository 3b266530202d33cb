import math

import torch
from torch import nn
from torch.nn.functional import dropout as drop_elements
from torch.nn.functional import gelu, linear, softmax


def two(size):
    return tuple(size) if isinstance(size, (tuple, list)) else (size, size)


def cut(images, rows, columns, ph, pw):
    """(batch, rows * columns, channels * ph * pw), row by row."""
    images = images[:, :, : rows * ph, : columns * pw]
    batch, channels = images.shape[:2]
    grid = images.reshape(batch, channels, rows, ph, columns, pw)
    return grid.permute(0, 2, 4, 1, 3, 5).reshape(batch, rows * columns, channels * ph * pw)


def chunks(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def unchunk(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


def apply_linear(x, layer):
    return linear(x, layer.weight, layer.bias)


class Embedding(nn.Module):
    def __init__(self, in_channels, d_model, patch):
        super().__init__()
        self.projection = nn.Conv2d(in_channels, d_model, kernel_size=patch, stride=patch)

    def forward(self, patches):
        return linear(patches, self.projection.weight.flatten(1), self.projection.bias)


class Heads(nn.Module):
    def __init__(self, d_model, num_heads, p):
        super().__init__()
        self.num_heads, self.p = num_heads, p
        self.q_proj, self.k_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.v_proj, self.o_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x):
        q = chunks(apply_linear(x, self.q_proj), self.num_heads)
        k = chunks(apply_linear(x, self.k_proj), self.num_heads)
        v = chunks(apply_linear(x, self.v_proj), self.num_heads)
        weights = softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)
        weights = drop_elements(weights, self.p, self.training)
        return apply_linear(unchunk(weights @ v), self.o_proj)


class TwoLayers(nn.Module):
    def __init__(self, d_model, d_ff, p):
        super().__init__()
        self.p = p
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = drop_elements(gelu(apply_linear(x, self.fc1)), self.p, self.training)
        return drop_elements(apply_linear(hidden, self.fc2), self.p, self.training)


class Layer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, p):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(d_model), Heads(d_model, num_heads, p)
        self.norm2, self.mlp = nn.LayerNorm(d_model), TwoLayers(d_model, d_ff, p)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class VisionTransformer(nn.Module):
    def __init__(
        self, img_size, patch_size, in_channels, d_model, d_ff, num_heads, num_blocks, num_classes, dropout=0.0
    ):
        super().__init__()
        self.img_size, self.patch_size = two(img_size), two(patch_size)
        for side, image, patch in zip(("height", "width"), self.img_size, self.patch_size):
            if image % patch:
                raise ValueError(f"patch {side} {patch} does not divide image {side} {image}")
        if d_model % num_heads:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        if num_blocks < 0:
            raise ValueError(f"num_blocks {num_blocks} is negative")
        self.grid = tuple(image // patch for image, patch in zip(self.img_size, self.patch_size))
        self.p = dropout
        self.patch_embedding = Embedding(in_channels, d_model, self.patch_size)
        self.cls_token = nn.Parameter(torch.randn(1, 1, d_model) * 0.02)
        self.positions = nn.Parameter(torch.randn(1, math.prod(self.grid) + 1, d_model) * 0.02)
        self.blocks = nn.ModuleList([Layer(d_model, num_heads, d_ff, dropout) for _ in range(num_blocks)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, images):
        for side, size, wanted in zip(("height", "width"), images.shape[2:], self.img_size):
            if size < wanted:
                raise ValueError(f"images of {side} {size}, but the model is made for {wanted}")
        patches = self.patch_embedding(cut(images, *self.grid, *self.patch_size))
        first = self.cls_token.repeat(images.shape[0], 1, 1)
        tokens = drop_elements(torch.cat([first, patches], dim=1) + self.positions, self.p, self.training)
        for block in self.blocks:
            tokens = block(tokens)
        return apply_linear(self.norm(tokens[:, 0]), self.head)
