"""Forward hooks record the stream, blocks are named children, a NamedTuple and more arguments come back."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn


class Shown(NamedTuple):
    output: torch.Tensor
    stream: list


class DepthError(ValueError):
    """A stack that can't be built."""


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        for name in "qkvo":
            self.add_module(f"{name}_proj", nn.Linear(width, width))

    def forward(self, x, mask):
        weight = torch.cat([self.q_proj.weight, self.k_proj.weight, self.v_proj.weight])
        bias = torch.cat([self.q_proj.bias, self.k_proj.bias, self.v_proj.bias])
        q, k, v = F.linear(x, weight, bias).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return self.o_proj(F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(width), Attention(width, heads), nn.LayerNorm(width)
        self.mlp = nn.Sequential()
        self.mlp.add_module("fc1", nn.Linear(width, hidden))
        self.mlp.add_module("activation", nn.GELU())
        self.mlp.add_module("fc2", nn.Linear(hidden, width))


class PreBlock(Block):
    def forward(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))


class PostBlock(Block):
    def forward(self, x, mask):
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.mlp(x))


class BlockStack(nn.Module):
    def __init__(self, num_blocks, d_model, num_heads, d_ff, norm_first=True, *, name="stack"):
        if num_blocks < 0:
            raise DepthError(f"num_blocks={num_blocks}")
        if d_model % num_heads:
            raise DepthError(f"num_heads={num_heads} for d_model={d_model}")
        super().__init__()
        self.name = name
        self.blocks = nn.Module()
        for index in range(num_blocks):
            self.blocks.add_module(str(index), (PreBlock if norm_first else PostBlock)(d_model, num_heads, d_ff))
        self.norm = nn.LayerNorm(d_model) if norm_first else None

    def forward(self, x, mask=None, return_stream=False, *, normalize=True):
        stream = [x]
        handles = [
            block.register_forward_hook(lambda module, given, result: stream.append(result))
            for block in self.blocks.children()
        ]
        try:
            for block in self.blocks.children():
                x = block(x, mask)
        finally:
            for handle in handles:
                handle.remove()
        output = self.norm(x) if self.norm is not None and normalize else x
        return Shown(output, stream) if return_stream else output
