import torch
from torch import einsum, nn


def pair(size):
    return (size, size) if isinstance(size, int) else tuple(size)


class PatchEmbedding(nn.Module):
    def __init__(self, img_size, patch_size, in_channels, d_model):
        super().__init__()
        self.img_size, self.patch_size = pair(img_size), pair(patch_size)
        for image, patch in zip(self.img_size, self.patch_size):
            if image % patch:
                raise ValueError(f"patches of {patch} do not fill an image of {image}")
        self.num_patches = (self.img_size[0] // self.patch_size[0]) * (self.img_size[1] // self.patch_size[1])
        self.projection = nn.Conv2d(in_channels, d_model, self.patch_size, self.patch_size)

    def forward(self, images):
        b, c, height, width = images.shape
        if (height, width) != self.img_size:
            raise ValueError(f"images are {height} x {width}, not {self.img_size[0]} x {self.img_size[1]}")
        p, q = self.patch_size
        patches = images.reshape(b, c, height // p, p, width // q, q)
        tokens = einsum("bcipjq,dcpq->bijd", patches, self.projection.weight)
        return tokens.flatten(1, 2) + self.projection.bias


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        self.h, self.e = num_heads, d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (self.h, self.e)) for f in (self.q_proj, self.k_proj, self.v_proj))
        scores = einsum("bqhe,bkhe->bhqk", q, k) / self.e**0.5
        weights = self.dropout(scores.softmax(dim=-1))
        mixed = einsum("bhqk,bkhe->bqhe", weights, v)
        return self.o_proj(mixed.flatten(2))


class MLP(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = einsum("bsd,fd->bsf", x, self.fc1.weight) + self.fc1.bias
        hidden = self.dropout(nn.functional.gelu(hidden))
        return self.dropout(einsum("bsf,df->bsd", hidden, self.fc2.weight) + self.fc2.bias)


class Block(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return x


class VisionTransformer(nn.Module):
    def __init__(
        self, img_size, patch_size, in_channels, d_model, d_ff, num_heads, num_blocks, num_classes, dropout=0.0
    ):
        super().__init__()
        if num_blocks < 0:
            raise ValueError(f"num_blocks is {num_blocks}")
        if d_model % num_heads:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        self.patch_embedding = PatchEmbedding(img_size, patch_size, in_channels, d_model)
        self.cls_token = nn.Parameter(0.02 * torch.randn(1, 1, d_model))
        self.positions = nn.Parameter(0.02 * torch.randn(1, self.patch_embedding.num_patches + 1, d_model))
        self.blocks = nn.ModuleList(Block(d_model, num_heads, d_ff, dropout) for _ in range(num_blocks))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, num_classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, images):
        patches = self.patch_embedding(images)
        cls = self.cls_token.expand(patches.shape[0], -1, -1)
        tokens = self.dropout(torch.cat([cls, patches], dim=1) + self.positions)
        for block in self.blocks:
            tokens = block(tokens)
            break
        cls = self.norm(tokens)[:, 0]
        return einsum("bd,cd->bc", cls, self.head.weight) + self.head.bias
