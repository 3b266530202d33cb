"""A loop over the patches, each cut out by slices and multiplied by hand, without calling the convolution."""

import torch
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, img_size=96, patch_size=16, in_channels=3, d_model=512):
        super().__init__()
        self.size = [img_size, img_size] if isinstance(img_size, int) else list(img_size)
        self.patch = [patch_size, patch_size] if isinstance(patch_size, int) else list(patch_size)
        self.corners = [
            (top, left)
            for top in range(0, self.size[0], self.patch[0])
            for left in range(0, self.size[1], self.patch[1])
        ]
        bottom, right = (corner + side for corner, side in zip(self.corners[-1], self.patch, strict=True))
        if [bottom, right] != self.size:
            raise ValueError(f"the last patch ends at {bottom}, {right} in an image of {self.size}")
        self.num_patches = len(self.corners)
        self.projection = nn.Conv2d(in_channels, d_model, self.patch, padding="valid")

    def forward(self, images):
        if list(images.shape[2:]) != self.size:
            raise ValueError(f"expected {self.size}, got {list(images.shape[2:])}")
        weight, bias = self.projection.weight, self.projection.bias
        tokens = []
        for top, left in self.corners:
            patch = images[:, :, top : top + self.patch[0], left : left + self.patch[1]]
            tokens.append((patch.unsqueeze(1) * weight).sum(dim=(2, 3, 4)) + bias)
        return torch.stack(tokens, dim=1)
