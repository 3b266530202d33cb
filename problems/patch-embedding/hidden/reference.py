"""Model answer: the patch embedding.

Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words", section 3.1: an image is cut into patches that don't overlap,
and one linear map takes each of them to a token. As a convolution whose stride is its kernel size: Dive into Deep
Learning, "Transformers for Vision".
"""

from torch import nn


def height_and_width(size):
    """A size as (height, width); an int stands for a square."""
    if isinstance(size, int):
        return size, size
    height, width = size
    return height, width


class PatchEmbedding(nn.Module):
    """(batch, in_channels, height, width) to (batch, num_patches, d_model), patches row by row."""

    def __init__(self, img_size=96, patch_size=16, in_channels=3, d_model=512):
        super().__init__()
        self.height, self.width = height_and_width(img_size)
        patch_height, patch_width = height_and_width(patch_size)
        if self.height % patch_height != 0:
            raise ValueError(f"image height {self.height} is no multiple of the patch height {patch_height}")
        if self.width % patch_width != 0:
            raise ValueError(f"image width {self.width} is no multiple of the patch width {patch_width}")
        rows = self.height // patch_height
        columns = self.width // patch_width
        self.num_patches = rows * columns
        patch = (patch_height, patch_width)
        # Kernel and stride of one size: every pixel belongs to exactly one patch.
        self.projection = nn.Conv2d(in_channels, d_model, kernel_size=patch, stride=patch)

    def forward(self, images):
        height, width = images.shape[-2:]
        if height != self.height or width != self.width:
            raise ValueError(f"images are {height} x {width}, expected {self.height} x {self.width}")
        grid = self.projection(images)  # (batch, d_model, rows, columns)
        features = grid.flatten(2)  # (batch, d_model, num_patches)
        return features.transpose(1, 2)  # (batch, num_patches, d_model)
