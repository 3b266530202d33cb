import torch
import torch.nn.functional as F
from torch import nn


def as_tuple(size):
    return (size, size) if isinstance(size, int) else tuple(size)


def require(condition, message):
    if not condition:
        raise ValueError(message)


def heads_of(t, n):
    return t.unflatten(-1, (n, -1)).transpose(-3, -2)


def attend(q, k, v, drop):
    scores = torch.matmul(q, k.mT) / q.shape[-1] ** 0.5
    return torch.matmul(drop(F.softmax(scores, dim=-1)), v)


def norm_of(x, layer):
    return F.layer_norm(x, layer.normalized_shape, layer.weight, layer.bias, 1e-5)


class Projection(nn.Module):
    def __init__(self, in_channels, d_model, patch):
        super().__init__()
        self.projection = nn.Conv2d(in_channels, d_model, patch, stride=patch)

    def forward(self, images):
        p = self.projection
        return F.conv2d(images, p.weight, p.bias, stride=p.stride).flatten(2).mT


class Block(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.num_heads, self.p = num_heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = nn.ModuleDict(
            {name: nn.Linear(d_model, d_model) for name in ("q_proj", "k_proj", "v_proj", "o_proj")}
        )
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})

    def drop(self, t):
        return F.dropout(t, self.p, self.training)

    def mix(self, h):
        a = self.attention
        q, k, v = (heads_of(a[name](h), self.num_heads) for name in ("q_proj", "k_proj", "v_proj"))
        return a["o_proj"](attend(q, k, v, self.drop).transpose(1, 2).flatten(2))

    def think(self, h):
        return self.drop(self.mlp["fc2"](self.drop(F.gelu(self.mlp["fc1"](h)))))

    def forward(self, x):
        x = x + self.mix(norm_of(x, self.norm1))
        return x + self.think(norm_of(x, self.norm2))


class VisionTransformer(nn.Module):
    def __init__(
        self, img_size, patch_size, in_channels, d_model, d_ff, num_heads, num_blocks, num_classes, dropout=0.0
    ):
        super().__init__()
        (height, width), (ph, pw) = as_tuple(img_size), as_tuple(patch_size)
        require(height % ph == 0, f"height {height} is not filled by patches of height {ph}")
        require(width % pw == 0, f"width {width} is not filled by patches of width {pw}")
        require(d_model % num_heads == 0, f"{num_heads} heads do not divide {d_model} features")
        require(num_blocks >= 0, f"{num_blocks} blocks are less than none")
        self.size, self.p = (height, width), dropout
        n = (height // ph) * (width // pw)
        self.patch_embedding = Projection(in_channels, d_model, (ph, pw))
        self.cls_token = nn.Parameter(torch.empty(1, 1, d_model).normal_(std=0.02))
        self.positions = nn.Parameter(torch.empty(1, n + 1, d_model).normal_(std=0.02))
        self.blocks = nn.Sequential(*(Block(d_model, num_heads, d_ff, dropout) for _ in range(num_blocks)))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, images):
        size = tuple(images.shape[2:])
        require(size == self.size, f"images of size {size} given, size {self.size} expected")
        patches = self.patch_embedding(images)
        cls = self.cls_token.expand(len(patches), 1, -1)
        tokens = torch.cat((patches, cls), dim=1) + self.positions
        tokens = self.blocks(F.dropout(tokens, self.p, self.training))
        return self.head(norm_of(tokens[:, -1], self.norm))
