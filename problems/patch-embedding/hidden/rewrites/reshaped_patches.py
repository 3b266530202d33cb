"""Patches by reshape and permute, channels last, and one matrix product with the kernel in the same order."""

import torch
from torch import nn


def pair(size):
    return (size,) * 2 if isinstance(size, int) else tuple(size)


class PatchEmbedding(nn.Module):
    def __init__(self, img_size=96, patch_size=16, in_channels=3, d_model=512):
        super().__init__()
        (self.h, self.w), (self.p, self.q) = pair(img_size), pair(patch_size)
        if self.h % self.p or self.w % self.q:
            raise ValueError(f"{self.h}x{self.w} is not divisible by {self.p}x{self.q}")
        self.num_patches = self.h * self.w // (self.p * self.q)
        self.projection = nn.Conv2d(in_channels, d_model, (self.p, self.q), (self.p, self.q))

    def forward(self, images):
        b, c, h, w = images.size()
        if (h, w) != (self.h, self.w):
            raise ValueError(f"image of {h}x{w}")
        patches = images.reshape(b, c, h // self.p, self.p, w // self.q, self.q)
        patches = patches.permute(0, 2, 4, 3, 5, 1).reshape(b, self.num_patches, -1)  # (b, n, p * q * c)
        kernel = self.projection.weight.permute(2, 3, 1, 0).reshape(-1, self.projection.out_channels)
        return torch.baddbmm(self.projection.bias.expand(b, 1, -1), patches, kernel.expand(b, -1, -1))
