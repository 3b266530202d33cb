"""The patch embedding: an image becomes a sequence of tokens, one for each patch."""

from torch import nn


class PatchEmbedding(nn.Module):
    """Cuts images into patches and maps each patch linearly to d_model features.

    ``img_size`` and ``patch_size`` are an int or a tuple (height, width). ``num_patches`` is the number of tokens.
    The state_dict has the keys of an nn.Conv2d that is called projection:
        projection.weight    (d_model, in_channels, patch_height, patch_width)
        projection.bias      (d_model,)
    """

    def __init__(self, img_size=96, patch_size=16, in_channels=3, d_model=512):
        super().__init__()
        raise NotImplementedError

    def forward(self, images):
        """images: (batch, in_channels, height, width). Returns (batch, num_patches, d_model)."""
        raise NotImplementedError
