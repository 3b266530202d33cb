"""Oracle: a stack of blocks and the gated block, on PyTorch's own attention, normalization and activation."""

from __future__ import annotations

from torch import Tensor, nn

from reference.blocks import PreNormBlock


class PostNormBlock(PreNormBlock):
    """The pre-norm block's sublayers in the original order, a norm after each add (Xiong et al. 2020, figure 1(a))."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x (batch, seq_len, d_model), mask boolean or None, True = may attend; gives (batch, seq_len, d_model)."""
        x = self.norm1(x + self._attend(x, mask))
        return self.norm2(x + self._transform(x))


class BlockStack(nn.Module):
    """Blocks one after the other; a pre-norm stack ends in a norm (Xiong et al. 2020, arXiv 2002.04745, section 3)."""

    def __init__(self, num_blocks: int, d_model: int, num_heads: int, d_ff: int, norm_first: bool = True):
        """ValueError for a negative number of blocks and for a width that ``num_heads`` doesn't divide."""
        super().__init__()
        if num_blocks < 0:
            raise ValueError(f"num_blocks {num_blocks} is negative")
        kind = PreNormBlock if norm_first else PostNormBlock
        self.blocks = nn.Sequential(*(kind(d_model, num_heads, d_ff) for _ in range(num_blocks)))
        self.add_module("norm", nn.LayerNorm(d_model) if norm_first else None)

    def forward(
        self, x: Tensor, mask: Tensor | None = None, return_stream: bool = False
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        """x (batch, seq_len, d_model) to the same shape; with ``return_stream`` also the stream at each depth."""
        stream = [x]
        stream.extend(x := block(x, mask) for block in self.blocks)
        output = x if self.norm is None else self.norm(x)
        return (output, stream) if return_stream else output
