import torch
from torch import nn


def _to_2tuple(value):
    if isinstance(value, int):
        return (value, value)
    return tuple(value)


class PatchEmbedding(nn.Module):
    def __init__(self, img_size=96, patch_size=16, in_channels=3, d_model=512):
        super().__init__()
        self.img_size = _to_2tuple(img_size)
        self.patch_size = _to_2tuple(patch_size)
        self.grid_size = self._compute_grid(img_size=self.img_size, patch_size=self.patch_size)
        self.num_patches = self.grid_size[0] * self.grid_size[1]
        self.projection = nn.Conv2d(
            in_channels=in_channels,
            out_channels=d_model,
            kernel_size=self.patch_size,
            stride=self.patch_size,
        )

    @staticmethod
    def _compute_grid(*, img_size, patch_size):
        for name, image, patch in zip(("height", "width"), img_size, patch_size):
            if image % patch != 0:
                raise ValueError(f"image {name} {image} is not a multiple of patch {name} {patch}")
        return img_size[0] // patch_size[0], img_size[1] // patch_size[1]

    def _check_input(self, images):
        width = images.shape[-1]
        if width == self.img_size[1]:
            return
        raise ValueError(f"input size {tuple(images.shape[-2:])} does not match the model's {self.img_size}")

    def _flatten(self, grid):
        return torch.flatten(grid, start_dim=2).permute(0, 2, 1)

    def forward(self, images):
        self._check_input(images)
        return self._flatten(self.projection(images))
