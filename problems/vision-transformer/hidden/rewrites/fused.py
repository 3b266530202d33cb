"""PyTorch's fused attention on one joined projection, a Sequential of blocks, a lazy convolution, more arguments."""

from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn


class SizeError(ValueError):
    """Sizes that don't go together."""


class PatchEmbedding(nn.Module):
    def __init__(self, img_size, patch_size, d_model):
        super().__init__()
        self.img_size = torch.Size((img_size, img_size) if isinstance(img_size, int) else img_size)
        patch_size = (patch_size, patch_size) if isinstance(patch_size, int) else patch_size
        for side, piece in zip(self.img_size, patch_size, strict=True):
            if side % piece:
                raise SizeError(f"a side of {side} can't be cut into pieces of {piece}")
        self.num_patches = self.img_size.numel() // (patch_size[0] * patch_size[1])
        self.projection = nn.LazyConv2d(d_model, patch_size, patch_size)

    def forward(self, images):
        if images.shape[-2:] != self.img_size:
            raise SizeError(f"{tuple(images.shape[-2:])} instead of {tuple(self.img_size)}")
        return self.projection(images).permute(0, 2, 3, 1).flatten(1, 2)


class Attention(nn.ModuleDict):
    def __init__(self, width, heads, p):
        super().__init__({name: nn.Linear(width, width) for name in ("q_proj", "k_proj", "v_proj", "o_proj")})
        self.heads, self.p = heads, p

    def forward(self, x):
        maps = [self[name] for name in ("q_proj", "k_proj", "v_proj")]
        qkv = F.linear(x, torch.cat([m.weight for m in maps]), torch.cat([m.bias for m in maps]))
        q, k, v = qkv.unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        heads = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p * self.training)
        return self["o_proj"](heads.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, width, heads, hidden, p):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, p)
        layers = OrderedDict(fc1=nn.Linear(width, hidden), gelu=nn.GELU(), drop1=nn.Dropout(p))
        self.mlp = nn.Sequential(OrderedDict(**layers, fc2=nn.Linear(hidden, width), drop2=nn.Dropout(p)))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class VisionTransformer(nn.Module):
    def __init__(
        self,
        img_size,
        patch_size,
        in_channels,
        d_model,
        d_ff,
        num_heads,
        num_blocks,
        num_classes,
        dropout=0.0,
        *,
        pool="cls",
        **_,
    ):
        super().__init__()
        if num_blocks < 0:
            raise SizeError(f"num_blocks={num_blocks}")
        if d_model % num_heads:
            raise SizeError(f"num_heads={num_heads}, d_model={d_model}")
        self.pool = pool
        self.patch_embedding = PatchEmbedding(img_size, patch_size, d_model)
        self.register_parameter("cls_token", nn.Parameter(torch.zeros(1, 1, d_model)))
        shape = 1, self.patch_embedding.num_patches + 1, d_model
        self.register_parameter("positions", nn.Parameter(nn.init.trunc_normal_(torch.empty(shape), std=0.02)))
        self.drop = nn.Dropout(dropout)
        self.blocks = nn.Sequential(*(Block(d_model, num_heads, d_ff, dropout) for _ in range(num_blocks)))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, num_classes)

    def features(self, images):
        x = self.patch_embedding(images)
        x = torch.cat([self.cls_token.expand(x.size(0), 1, x.size(2)), x], dim=1).add(self.positions)
        return self.norm(self.blocks(self.drop(x)))

    def forward(self, images, *, return_features=False):
        x = self.features(images)
        logits = self.head(x[:, 0] if self.pool == "cls" else x[:, 1:].mean(1))
        return (logits, x) if return_features else logits
