import torch
from torch import nn


def matrix_map(x, layer):
    return torch.matmul(x, layer.weight.transpose(0, 1)) + layer.bias


class PatchEmbedding(nn.Module):
    def __init__(self, image, patch, in_channels, d_model):
        super().__init__()
        self.image = image
        self.patch = patch
        self.projection = nn.Conv2d(in_channels, d_model, kernel_size=patch, stride=patch)

    def forward(self, images):
        batch, channels, height, width = images.shape
        if height != self.image[0] or width != self.image[1]:
            raise ValueError(f"expected {self.image[0]} x {self.image[1]} pixels, got {height} x {width}")
        ph, pw = self.patch
        rows, columns = height // ph, width // pw

        pieces = images.reshape(batch, channels, rows, ph, columns, pw)
        pieces = pieces.permute(0, 2, 4, 1, 3, 5)  # batch, rows, columns, channels, ph, pw
        pieces = pieces.reshape(batch, rows * columns, channels * ph * pw)
        weight = self.projection.weight.reshape(-1, channels * ph * pw)
        return torch.matmul(pieces, weight.transpose(0, 1)) + self.projection.bias


class Attention(nn.Module):
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
        batch, length, d_model = x.shape

        q = matrix_map(x, self.q_proj).reshape(batch, length, self.num_heads, self.d_head)
        k = matrix_map(x, self.k_proj).reshape(batch, length, self.num_heads, self.d_head)
        v = matrix_map(x, self.v_proj).reshape(batch, length, self.num_heads, self.d_head)
        q = q.permute(0, 2, 1, 3).reshape(batch * self.num_heads, length, self.d_head)
        k = k.permute(0, 2, 3, 1).reshape(batch * self.num_heads, self.d_head, length)
        v = v.permute(0, 2, 1, 3).reshape(batch * self.num_heads, length, self.d_head)

        weights = torch.softmax(torch.matmul(q, k) * self.d_head**-0.5, dim=2)
        weights = self.dropout(weights)

        out = torch.matmul(weights, v).reshape(batch, self.num_heads, length, self.d_head)
        out = out.permute(0, 2, 1, 3).reshape(batch, length, d_model)
        return matrix_map(out, self.o_proj)


class MLP(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        z = matrix_map(x, self.fc1)
        hidden = 0.5 * z * (1.0 + torch.erf(z / 2.0**0.5))
        return self.dropout(matrix_map(hidden, self.fc2))


class PreNormBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model, eps=1e-5)
        self.attention = Attention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model, eps=1e-5)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x):
        attended = self.attention(self.norm1(x))
        x = x + attended
        changed = self.mlp(self.norm2(x))
        return x + changed


class VisionTransformer(nn.Module):
    def __init__(
        self, img_size, patch_size, in_channels, d_model, d_ff, num_heads, num_blocks, num_classes, dropout=0.0
    ):
        super().__init__()
        image = (img_size, img_size) if isinstance(img_size, int) else (img_size[0], img_size[1])
        patch = (patch_size, patch_size) if isinstance(patch_size, int) else (patch_size[0], patch_size[1])
        if image[0] % patch[0] != 0 or image[1] % patch[1] != 0:
            raise ValueError(f"patches of {patch} do not fill images of {image}")
        if d_model % num_heads != 0:
            raise ValueError(f"d_model {d_model} can't be shared by {num_heads} heads")
        if num_blocks < 0:
            raise ValueError(f"there can't be {num_blocks} blocks")
        num_patches = (image[0] // patch[0]) * (image[1] // patch[1])

        self.patch_embedding = PatchEmbedding(image, patch, in_channels, d_model)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.positions = nn.Parameter(torch.randn(1, num_patches + 1, d_model) * d_model**-0.5)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList()
        for _ in range(num_blocks):
            self.blocks.append(PreNormBlock(d_model, num_heads, d_ff, dropout))
        self.norm = nn.LayerNorm(d_model, eps=1e-5)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, images):
        batch = images.shape[0]
        patches = self.patch_embedding(images)
        ones = torch.ones(batch, 1, 1, dtype=patches.dtype, device=patches.device)
        cls = torch.matmul(ones, self.cls_token)
        tokens = torch.cat((cls, patches), dim=1)
        tokens = tokens + self.positions
        tokens = self.dropout(tokens)
        for block in self.blocks:
            tokens = block(tokens)
        tokens = self.norm(tokens)
        return matrix_map(tokens[:, 0, :], self.head)
