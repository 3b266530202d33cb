import torch
from torch import nn
from torch.nn import functional as F


def _ntuple(value):
    if isinstance(value, int):
        return value, value
    height, width = value
    return height, width


class PatchEmbed(nn.Module):
    def __init__(self, *, img_size, patch_size, in_chans, embed_dim):
        super().__init__()
        self.img_size = _ntuple(img_size)
        self.patch_size = _ntuple(patch_size)
        self._validate()
        self.projection = nn.Conv2d(in_chans, embed_dim, kernel_size=self.patch_size, stride=self.patch_size)

    def _validate(self):
        if self.img_size[0] % self.patch_size[0] != 0:
            raise ValueError(f"image height {self.img_size[0]} is not divisible by patch height {self.patch_size[0]}")
        if self.img_size[1] % self.patch_size[1] != 0:
            raise ValueError(f"image width {self.img_size[1]} is not divisible by patch width {self.patch_size[1]}")

    @property
    def num_patches(self):
        return (self.img_size[0] // self.patch_size[0]) * (self.img_size[1] // self.patch_size[1])

    def forward(self, pixel_values):
        height, width = pixel_values.shape[-2:]
        if height != self.img_size[0]:
            raise ValueError(f"input height ({height}) does not match the model ({self.img_size[0]})")
        if width != self.img_size[1]:
            raise ValueError(f"input width ({width}) does not match the model ({self.img_size[1]})")
        return self.projection(pixel_values).flatten(2).transpose(1, 2)


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, *, num_heads, attn_drop=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.attn_drop = attn_drop
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.o_proj = nn.Linear(embed_dim, embed_dim, bias=True)

    def _split(self, t):
        batch, length, width = t.shape
        return t.reshape(batch, length, self.num_heads, width // self.num_heads).transpose(1, 2)

    def forward(self, hidden_states):
        out = F.scaled_dot_product_attention(
            self._split(self.q_proj(hidden_states)),
            self._split(self.k_proj(hidden_states)),
            self._split(self.v_proj(hidden_states)),
            dropout_p=self.attn_drop if self.training else 0.0,
        )
        return self.o_proj(out.transpose(1, 2).reshape(hidden_states.shape))


class Mlp(nn.Module):
    def __init__(self, embed_dim, *, hidden_dim, drop=0.0):
        super().__init__()
        self.fc1 = nn.Linear(embed_dim, hidden_dim)
        self.act = nn.GELU()
        self.drop1 = nn.Dropout(drop)
        self.fc2 = nn.Linear(hidden_dim, embed_dim)
        self.drop2 = nn.Dropout(drop)

    def forward(self, hidden_states):
        hidden_states = self.drop1(self.act(self.fc1(hidden_states)))
        return self.drop2(self.fc2(hidden_states))


class EncoderLayer(nn.Module):
    def __init__(self, embed_dim, *, num_heads, hidden_dim, drop=0.0):
        super().__init__()
        self.norm1 = nn.LayerNorm(embed_dim, eps=1e-5)
        self.attention = SelfAttention(embed_dim, num_heads=num_heads, attn_drop=drop)
        self.norm2 = nn.LayerNorm(embed_dim, eps=1e-5)
        self.mlp = Mlp(embed_dim, hidden_dim=hidden_dim, drop=drop)

    def forward(self, hidden_states):
        hidden_states = hidden_states + self.attention(self.norm1(hidden_states))
        return hidden_states + self.mlp(self.norm2(hidden_states))


class VisionTransformer(nn.Module):
    def __init__(
        self, img_size, patch_size, in_channels, d_model, d_ff, num_heads, num_blocks, num_classes, dropout=0.0
    ):
        super().__init__()
        self._check_config(d_model=d_model, num_heads=num_heads, num_blocks=num_blocks)
        self.patch_embedding = PatchEmbed(
            img_size=img_size, patch_size=patch_size, in_chans=in_channels, embed_dim=d_model
        )
        self.cls_token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.positions = nn.Parameter(torch.zeros(1, self.patch_embedding.num_patches + 1, d_model))
        self.pos_drop = nn.Dropout(p=dropout)
        self.blocks = nn.ModuleList(
            [EncoderLayer(d_model, num_heads=num_heads, hidden_dim=d_ff, drop=dropout) for _ in range(num_blocks)]
        )
        self.norm = nn.LayerNorm(d_model, eps=1e-5)
        self.head = nn.Linear(d_model, num_classes)
        self._init_weights()

    @staticmethod
    def _check_config(*, d_model, num_heads, num_blocks):
        if num_blocks < 0:
            raise ValueError(f"num_blocks must be >= 0, got {num_blocks}")
        if d_model % num_heads != 0:
            raise ValueError(f"d_model ({d_model}) must be divisible by num_heads ({num_heads})")

    def _init_weights(self):
        nn.init.trunc_normal_(self.cls_token, std=0.02)
        nn.init.trunc_normal_(self.positions, std=0.02)

    def _embed(self, images):
        patches = self.patch_embedding(images)
        cls_token = self.cls_token.expand(patches.shape[0], -1, -1)
        return self.pos_drop(torch.cat((cls_token, patches), dim=1) + self.positions)

    def _pool(self, hidden_states):
        return hidden_states[:, 1:].mean(dim=1)

    def forward(self, images):
        hidden_states = self._embed(images)
        for block in self.blocks:
            hidden_states = block(hidden_states)
        return self.head(self._pool(self.norm(hidden_states)))
