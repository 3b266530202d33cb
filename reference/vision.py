"""Oracle: what turns images into tokens, and the classifier of images, on PyTorch's own operations.

Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words" (arXiv 2010.11929), section 3.1 and equations 1 to 4.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Size = int | tuple[int, int]


class PatchEmbedding(nn.Module):
    """A linear map of every patch: the columns that ``F.unfold`` makes, times the kernel as a matrix.

    ValueError for an image that the patches don't fill, and for images of another size in forward.
    """

    def __init__(self, img_size: Size = 96, patch_size: Size = 16, in_channels: int = 3, d_model: int = 512):
        super().__init__()
        self.img_size = torch.Size(_pair(img_size))
        self.patch_size = _pair(patch_size)
        counts, rests = zip(*map(divmod, self.img_size, self.patch_size), strict=True)
        if any(rests):
            raise ValueError(f"patches of {self.patch_size} do not fill an image of {tuple(self.img_size)}")
        self.num_patches = counts[0] * counts[1]
        self.projection = nn.Conv2d(in_channels, d_model, self.patch_size)

    def forward(self, images: Tensor) -> Tensor:
        """images (batch, in_channels, height, width); gives (batch, num_patches, d_model), patches row by row."""
        if images.shape[2:] != self.img_size:
            raise ValueError(f"images of {tuple(images.shape[2:])} for an embedding of {tuple(self.img_size)}")
        patches = F.unfold(images, self.patch_size, stride=self.patch_size)  # (batch, channels * pixels, num_patches)
        return F.linear(patches.mT, self.projection.weight.flatten(1), self.projection.bias)


def _pair(size: Size) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size[0], size[1])
