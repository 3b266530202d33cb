"""A sum over the pixels of a patch, in place on its own result: every pixel adds its strided image times a matrix."""

import torch
from torch import nn


class Projection(nn.Conv2d):
    """A convolution that is never called, only its parameters are used."""

    def tokens(self, images):
        rows, columns = self.kernel_size
        batch, _, height, width = images.shape
        grid = images.new_zeros(batch, height // rows, width // columns, self.out_channels)
        grid += self.bias
        for i in range(rows):
            for j in range(columns):
                pixels = images[..., i::rows, j::columns]  # (batch, channels, rows, columns)
                grid += torch.einsum("bcrk,dc->brkd", pixels, self.weight[:, :, i, j])
        return grid.view(batch, -1, self.out_channels)


class PatchEmbedding(nn.Module):
    def __init__(
        self, img_size: int | tuple = 96, patch_size: int | tuple = 16, in_channels: int = 3, d_model: int = 512
    ):
        super().__init__()
        if type(img_size) is int:
            img_size = (img_size, img_size)
        if type(patch_size) is int:
            patch_size = (patch_size, patch_size)
        (rows, over), (columns, aside) = (divmod(s, p) for s, p in zip(img_size, patch_size, strict=True))
        if over > 0 or aside > 0:
            raise ValueError(f"image {img_size}: {over} rows and {aside} columns are left over")
        self.height, self.width = img_size
        self.num_patches = rows * columns
        self.projection = Projection(in_channels, d_model, patch_size)

    def forward(self, images):
        for name, axis in (("height", -2), ("width", -1)):
            if images.size(axis) != getattr(self, name):
                raise ValueError(f"{name} {images.size(axis)} instead of {getattr(self, name)}")
        return self.projection.tokens(images)
