"""Every block but the last as usual; the last computes the class token alone, which is all that the head reads."""

import torch
from torch import nn
from torch.nn.functional import dropout as drop
from torch.nn.functional import gelu, linear, unfold


class Block(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, p):
        super().__init__()
        self.num_heads, self.p = num_heads, p
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention, self.mlp = nn.Module(), nn.Module()
        for name in "qkvo":
            self.attention.add_module(f"{name}_proj", nn.Linear(d_model, d_model))
        self.mlp.add_module("fc1", nn.Linear(d_model, d_ff))
        self.mlp.add_module("fc2", nn.Linear(d_ff, d_model))

    def forward(self, x, queries):
        """Only the first ``queries`` tokens come out."""
        normed, x = self.norm1(x), x[:, :queries]
        x = x + self.attend(normed[:, :queries], normed)
        hidden = drop(gelu(self.mlp.fc1(self.norm2(x))), self.p, self.training)
        return x + drop(self.mlp.fc2(hidden), self.p, self.training)

    def attend(self, x, context):
        q = self.attention.q_proj(x).unflatten(-1, (self.num_heads, -1))
        k = self.attention.k_proj(context).unflatten(-1, (self.num_heads, -1))
        v = self.attention.v_proj(context).unflatten(-1, (self.num_heads, -1))
        weights = torch.einsum("bqhe,bkhe->bhqk", q * q.shape[-1] ** -0.5, k).softmax(-1)
        mixed = torch.einsum("bhqk,bkhe->bqhe", drop(weights, self.p, self.training), v)
        return self.attention.o_proj(mixed.flatten(2))


class VisionTransformer(nn.Module):
    def __init__(
        self, img_size, patch_size, in_channels, d_model, d_ff, num_heads, num_blocks, num_classes, dropout=0.0
    ):
        super().__init__()
        self.image = img_size if isinstance(img_size, tuple) else (img_size,) * 2
        self.patch = patch_size if isinstance(patch_size, tuple) else (patch_size,) * 2
        if self.image[0] % self.patch[0] or self.image[1] % self.patch[1]:
            raise ValueError(f"{self.patch} does not fill {self.image}")
        if num_blocks < 0 or d_model % num_heads:
            raise ValueError(f"num_blocks {num_blocks}, num_heads {num_heads}, d_model {d_model}")
        num_patches = (self.image[0] // self.patch[0]) * (self.image[1] // self.patch[1])
        self.patch_embedding = nn.ModuleDict({"projection": nn.Conv2d(in_channels, d_model, self.patch)})
        self.cls_token = nn.Parameter(torch.rand(1, 1, d_model) - 0.5)
        self.positions = nn.Parameter(torch.rand(1, num_patches + 1, d_model) - 0.5)
        self.blocks = nn.ModuleDict(
            {str(index): Block(d_model, num_heads, d_ff, dropout) for index in range(num_blocks)}
        )
        self.norm, self.head, self.p = nn.LayerNorm(d_model), nn.Linear(d_model, num_classes), dropout

    def forward(self, images):
        if images.shape[-2:] != self.image:
            raise ValueError(f"images of {images.shape[-2]} x {images.shape[-1]}, made for {self.image}")
        projection = self.patch_embedding["projection"]
        patches = unfold(images, self.patch, stride=self.patch).transpose(1, 2)
        tokens = linear(patches, projection.weight.flatten(1), projection.bias)
        cls_token = (self.cls_token + self.positions[:, :1]).expand(len(images), -1, -1)
        x = drop(torch.cat([cls_token, tokens + self.positions[:, 1:]], dim=1), self.p, self.training)
        last = len(self.blocks) - 1
        for index, block in enumerate(self.blocks.values()):
            x = block(x, 1 if index == last else x.shape[1])
        return self.head(self.norm(x)[:, 0])
