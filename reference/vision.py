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


class VisionTransformer(nn.Module):
    """A class token and the patches, with positions, through PyTorch's own encoder layers; logits from the class token.

    The layers are ``nn.TransformerEncoderLayer(norm_first=True, activation="gelu")`` with the parameters joined to its
    layout. Its dropout on the attention's output is taken out, as in Dive into Deep Learning's vision transformer.
    ValueError as in PatchEmbedding, for heads that don't divide the width, and for a negative number of blocks.
    """

    def __init__(
        self,
        img_size: Size,
        patch_size: Size,
        in_channels: int,
        d_model: int,
        d_ff: int,
        num_heads: int,
        num_blocks: int,
        num_classes: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        if num_blocks < 0 or d_model % num_heads:
            raise ValueError(f"{num_blocks} blocks of {num_heads} heads, {d_model} features wide")
        self.patch_embedding = PatchEmbedding(img_size, patch_size, in_channels, d_model)
        self.cls_token = nn.Parameter(torch.randn(1, 1, d_model))
        self.positions = nn.Parameter(torch.randn(1, 1 + self.patch_embedding.num_patches, d_model))
        self.blocks = nn.ModuleList(_EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_blocks))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, num_classes)
        self.dropout = dropout

    def forward(self, images: Tensor) -> Tensor:
        """images (batch, in_channels, height, width); gives logits (batch, num_classes)."""
        position_of_cls, positions_of_patches = self.positions.tensor_split([1], dim=1)
        patches = self.patch_embedding(images) + positions_of_patches
        tokens = torch.cat([(self.cls_token + position_of_cls).repeat(len(images), 1, 1), patches], dim=1)
        tokens = F.dropout(tokens, self.dropout, self.training)
        for block in self.blocks:
            tokens = block(tokens)
        return self.head(self.norm(tokens.select(1, 0)))


class _EncoderLayer(nn.Module):
    """PyTorch's encoder layer under the keys of the pre-norm block."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = nn.ModuleDict({f"{name}_proj": nn.Linear(d_model, d_model) for name in "qkvo"})
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})
        layer = nn.TransformerEncoderLayer(
            d_model, num_heads, d_ff, dropout, activation="gelu", batch_first=True, norm_first=True, device="meta"
        )
        layer.dropout1 = nn.Dropout(0.0)
        self._layer = (layer,)  # in a tuple, so that its parameters are not this module's

    def forward(self, x: Tensor) -> Tensor:
        layer = self._layer[0].train(self.training)
        query, key, value = (self.attention[f"{name}_proj"] for name in "qkv")
        parameters = {
            "self_attn.in_proj_weight": torch.cat([query.weight, key.weight, value.weight]),
            "self_attn.in_proj_bias": torch.cat([query.bias, key.bias, value.bias]),
        }
        for name, module in {
            "self_attn.out_proj": self.attention["o_proj"],
            **{"linear1": self.mlp["fc1"], "linear2": self.mlp["fc2"], "norm1": self.norm1, "norm2": self.norm2},
        }.items():
            parameters |= {f"{name}.{key}": parameter for key, parameter in module.named_parameters()}
        return torch.func.functional_call(layer, parameters, (x,))
