"""Model answer: the vision transformer.

Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words", equations 1 to 4: a class token in front of the patches,
learned positions, pre-norm blocks with GELU, a final norm and a linear head on the class token. Dropout acts where Dive
into Deep Learning's vision transformer has it. Attention: Vaswani et al. 2017, section 3.2.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def height_and_width(size):
    """A size as (height, width); an int stands for a square."""
    if isinstance(size, int):
        return size, size
    height, width = size
    return height, width


class PatchEmbedding(nn.Module):
    """(batch, in_channels, height, width) to (batch, num_patches, d_model), patches row by row."""

    def __init__(self, img_size, patch_size, in_channels, d_model):
        super().__init__()
        self.height, self.width = height_and_width(img_size)
        patch_height, patch_width = height_and_width(patch_size)
        if self.height % patch_height != 0:
            raise ValueError(f"image height {self.height} is no multiple of the patch height {patch_height}")
        if self.width % patch_width != 0:
            raise ValueError(f"image width {self.width} is no multiple of the patch width {patch_width}")
        rows = self.height // patch_height
        columns = self.width // patch_width
        self.num_patches = rows * columns
        patch = (patch_height, patch_width)
        self.projection = nn.Conv2d(in_channels, d_model, kernel_size=patch, stride=patch)

    def forward(self, images):
        height, width = images.shape[-2:]
        if height != self.height or width != self.width:
            raise ValueError(f"images are {height} x {width}, expected {self.height} x {self.width}")
        grid = self.projection(images)  # (batch, d_model, rows, columns)
        features = grid.flatten(2)  # (batch, d_model, num_patches)
        return features.transpose(1, 2)


class MultiHeadSelfAttention(nn.Module):
    """Every token attends to every token; the heads are chunks of the feature axis."""

    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        query = self.split_heads(self.q_proj(x))  # (batch, num_heads, num_tokens, d_head)
        key = self.split_heads(self.k_proj(x))
        value = self.split_heads(self.v_proj(x))
        scores = query @ key.transpose(-2, -1)  # (batch, num_heads, num_tokens, num_tokens)
        scores = scores / math.sqrt(self.d_head)
        weights = torch.softmax(scores, dim=-1)
        weights = self.dropout(weights)
        heads = weights @ value
        merged = heads.transpose(1, 2).flatten(2)  # (batch, num_tokens, d_model)
        return self.o_proj(merged)

    def split_heads(self, x):
        """(batch, num_tokens, d_model) to (batch, num_heads, num_tokens, d_head)"""
        heads = x.unflatten(-1, (self.num_heads, self.d_head))
        return heads.transpose(1, 2)


class MLP(nn.Module):
    """Two linear maps with a GELU between them, applied to each token alone."""

    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = self.fc1(x)  # (batch, num_tokens, d_ff)
        activated = F.gelu(hidden)
        activated = self.dropout(activated)
        output = self.fc2(activated)  # (batch, num_tokens, d_model)
        return self.dropout(output)


class PreNormBlock(nn.Module):
    """x + attention(norm1(x)), then x + mlp(norm2(x))."""

    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model, eps=1e-5)
        self.attention = MultiHeadSelfAttention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model, eps=1e-5)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x):
        attention_input = self.norm1(x)
        x = x + self.attention(attention_input)
        mlp_input = self.norm2(x)
        return x + self.mlp(mlp_input)


class VisionTransformer(nn.Module):
    """(batch, in_channels, height, width) to logits (batch, num_classes)."""

    def __init__(
        self, img_size, patch_size, in_channels, d_model, d_ff, num_heads, num_blocks, num_classes, dropout=0.0
    ):
        super().__init__()
        if num_blocks < 0:
            raise ValueError(f"num_blocks {num_blocks} is negative")
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        self.patch_embedding = PatchEmbedding(img_size, patch_size, in_channels, d_model)
        num_tokens = self.patch_embedding.num_patches + 1
        self.cls_token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.positions = nn.Parameter(0.02 * torch.randn(1, num_tokens, d_model))
        self.dropout = nn.Dropout(dropout)
        blocks = [PreNormBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_blocks)]
        self.blocks = nn.ModuleList(blocks)
        # The blocks never normalize the stream itself, so it is done once, before the head reads it.
        self.norm = nn.LayerNorm(d_model, eps=1e-5)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, images):
        patches = self.patch_embedding(images)  # (batch, num_patches, d_model)
        batch = patches.shape[0]
        cls_token = self.cls_token.expand(batch, -1, -1)
        tokens = torch.cat([cls_token, patches], dim=1)  # (batch, num_patches + 1, d_model)
        tokens = tokens + self.positions
        x = self.dropout(tokens)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        image_features = x[:, 0]  # (batch, d_model)
        return self.head(image_features)
