import torch
from torch import nn
from torch.nn import functional as F


class PatchEmbedding(nn.Module):
    def __init__(self, img_size=96, patch_size=16, in_channels=3, d_model=512):
        super().__init__()
        self.image_height, self.image_width = self._pair(img_size)
        self.patch_height, self.patch_width = self._pair(patch_size)
        self._validate_sizes()
        self.num_patches = (self.image_height // self.patch_height) * (self.image_width // self.patch_width)
        self.projection = nn.Conv2d(
            in_channels,
            d_model,
            kernel_size=(self.patch_height, self.patch_width),
            stride=(self.patch_height, self.patch_width),
        )

    @staticmethod
    def _pair(size):
        return (size, size) if isinstance(size, int) else (size[0], size[1])

    def _validate_sizes(self):
        if self.image_height % self.patch_height:
            raise ValueError(f"patch height {self.patch_height} does not divide image height {self.image_height}")
        if self.image_width % self.patch_width:
            raise ValueError(f"patch width {self.patch_width} does not divide image width {self.image_width}")

    def _validate_images(self, images):
        height, width = images.shape[-2:]
        if height != self.image_height:
            raise ValueError(f"images have height {height}, expected {self.image_height}")
        if width != self.image_width:
            raise ValueError(f"images have width {width}, expected {self.image_width}")

    def _patchify(self, images):
        patches = F.unfold(
            images,
            kernel_size=(self.patch_height, self.patch_width),
            stride=(self.patch_height, self.patch_width),
        )
        return patches.transpose(1, 2)

    def forward(self, images):
        self._validate_images(images)
        weight = self.projection.weight.flatten(start_dim=1)
        tokens = F.linear(self._patchify(images), weight=weight, bias=self.projection.bias)
        return tokens.to(dtype=torch.float32)
