"""The vision transformer: patches and a class token through pre-norm blocks, logits from the class token."""

from torch import nn


class VisionTransformer(nn.Module):
    """An encoder that classifies images.

    ``img_size`` and ``patch_size`` are an int or a tuple (height, width). The state_dict has these keys:
        patch_embedding.projection.weight    (d_model, in_channels, patch_height, patch_width)
        patch_embedding.projection.bias      (d_model,)
        cls_token                            (1, 1, d_model)
        positions                            (1, num_patches + 1, d_model)
        blocks.{i}.                          the keys of a pre-norm block, i from 0 to num_blocks - 1:
            norm1.{weight,bias}, norm2.{weight,bias}, attention.{q_proj,k_proj,v_proj,o_proj}.{weight,bias},
            mlp.{fc1,fc2}.{weight,bias}
        norm.{weight,bias}                   (d_model,)
        head.{weight,bias}                   (num_classes, d_model) and (num_classes,)
    """

    def __init__(
        self, img_size, patch_size, in_channels, d_model, d_ff, num_heads, num_blocks, num_classes, dropout=0.0
    ):
        super().__init__()
        raise NotImplementedError

    def forward(self, images):
        """images: (batch, in_channels, height, width). Returns logits, (batch, num_classes)."""
        raise NotImplementedError
