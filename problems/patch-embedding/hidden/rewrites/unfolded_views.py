"""Views by Tensor.unfold, einsum over them, and tokens as a transposed view of (batch, d_model, num_patches)."""

import torch
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()
        self._build(*args, **kwargs)

    def _build(self, img_size=96, patch_size=16, in_channels=3, d_model=512):
        try:
            self.height, self.width = img_size
        except TypeError:
            self.height = self.width = img_size
        try:
            self.p, self.q = patch_size
        except TypeError:
            self.p = self.q = patch_size
        self.num_patches = (self.height // self.p) * (self.width // self.q)
        if self.num_patches * self.p * self.q != self.height * self.width:
            raise ValueError(f"pixels of the {self.height} x {self.width} image belong to no patch")
        self.projection = nn.Conv2d(in_channels, d_model, kernel_size=(self.p, self.q), stride=(self.p, self.q))

    def forward(self, images):
        if images.shape[-2] != self.height or images.shape[-1] != self.width:
            raise ValueError(f"{images.shape[-2]} x {images.shape[-1]} is not {self.height} x {self.width}")
        patches = images.unfold(2, self.p, self.p).unfold(3, self.q, self.q)  # (batch, channels, rows, columns, p, q)
        features = torch.einsum("bcijpq,dcpq->bdij", patches, self.projection.weight)
        return (features + self.projection.bias[:, None, None]).flatten(-2).mT
