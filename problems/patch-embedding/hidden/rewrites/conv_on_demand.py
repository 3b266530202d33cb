"""A lazy convolution, einops-style axis moves, num_patches as a property, further arguments, its own error."""

from torch import nn


class SizeError(ValueError):
    """Sizes that don't go together."""


class PatchEmbedding(nn.Module):
    def __init__(self, img_size=96, patch_size=16, in_channels=3, d_model=512, *, bias=True, **_):
        super().__init__()
        self.img_size, patch_size = (s if isinstance(s, tuple) else (s, s) for s in (img_size, patch_size))
        for side, piece in zip(self.img_size, patch_size, strict=True):
            if side % piece:
                raise SizeError(f"a side of {side} can't be cut into pieces of {piece}")
        self.grid = tuple(side // piece for side, piece in zip(self.img_size, patch_size, strict=True))
        self.projection = nn.LazyConv2d(d_model, kernel_size=patch_size, stride=patch_size, bias=bias)

    @property
    def num_patches(self):
        return self.grid[0] * self.grid[1]

    def forward(self, images, *, return_grid=False):
        if tuple(images.shape[-2:]) != tuple(self.img_size):
            raise SizeError(f"got {tuple(images.shape)}, want images of {self.img_size}")
        tokens = self.projection(images).movedim(1, -1)
        return tokens if return_grid else tokens.flatten(1, 2)
