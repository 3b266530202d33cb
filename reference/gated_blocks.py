"""Oracle: a stack of blocks and the gated block, on PyTorch's own attention, normalization and activation."""

from __future__ import annotations

import json
import os
from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from reference.blocks import PreNormBlock
from reference.positions import apply_rotary


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


class PreNormGatedBlock(nn.Module):
    """RMSNorm before rotary attention and before a gated MLP, two residual adds, no biases.

    Zhang and Sennrich 2019 (arXiv 1910.07467), Su et al. 2021 (arXiv 2104.09864), Shazeer 2020 (arXiv 2002.05202).
    Dropout acts on the attention weights and on each sublayer's output.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.0):
        """ValueError for a width that ``num_heads`` doesn't divide, or whose heads are odd."""
        super().__init__()
        if d_model % (2 * num_heads):
            raise ValueError(f"d_model {d_model} is no multiple of twice num_heads {num_heads}")
        self.arguments = (d_model, num_heads, d_ff, dropout)
        self.norm1, self.norm2 = nn.RMSNorm(d_model, eps=1e-6), nn.RMSNorm(d_model, eps=1e-6)
        square = {name: nn.Linear(d_model, d_model, bias=False) for name in ("q_proj", "k_proj", "v_proj", "o_proj")}
        self.attention = nn.ModuleDict(square)
        self.mlp = nn.ModuleDict(
            {
                "gate_proj": nn.Linear(d_model, d_ff, bias=False),
                "up_proj": nn.Linear(d_model, d_ff, bias=False),
                "down_proj": nn.Linear(d_ff, d_model, bias=False),
            }
        )

    def forward(self, x: Tensor, positions: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        """x (batch, seq_len, d_model), positions (seq_len,), mask with True = may attend; gives the shape of x."""
        _, num_heads, _, dropout = self.arguments
        p = dropout if self.training else 0.0
        positions = torch.arange(x.shape[1], device=x.device) if positions is None else positions
        normalized = self.norm1(x)
        query, key, value = (
            self.attention[name](normalized).unflatten(-1, (num_heads, -1)).transpose(1, 2)
            for name in ("q_proj", "k_proj", "v_proj")
        )
        query, key = apply_rotary(query, positions), apply_rotary(key, positions)
        heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=p)
        x = x + F.dropout(self.attention["o_proj"](heads.transpose(1, 2).flatten(2)), p)
        normalized = self.norm2(x)
        gated = F.silu(self.mlp["gate_proj"](normalized)) * self.mlp["up_proj"](normalized)
        return x + F.dropout(self.mlp["down_proj"](gated), p)


def save_block(block: PreNormGatedBlock, path: str | os.PathLike[str]) -> None:
    """Write a safetensors file: the block's tensors, and its constructor's arguments as text in the header."""
    state = {key: tensor.contiguous() for key, tensor in block.state_dict().items()}
    Path(path).write_bytes(safetensors.torch.save(state, {"block": json.dumps(block.arguments)}))


def load_block(path: str | os.PathLike[str]) -> PreNormGatedBlock:
    """The block of a file that ``save_block`` wrote, in evaluation; ValueError for anything else."""
    try:
        with safetensors.safe_open(str(path), framework="pt") as file:
            block = PreNormGatedBlock(*json.loads(file.metadata()["block"]))
            state = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118, a handle is no dict
        block.to(state["norm1.weight"].dtype).load_state_dict(state)
        return block.eval()
    except (safetensors.SafetensorError, KeyError, TypeError, RuntimeError) as exc:
        raise ValueError(f"{path} holds no saved block") from exc
