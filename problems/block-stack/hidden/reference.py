"""Model answer: a stack of transformer blocks, pre-norm or post-norm, that can show its residual stream.

The two orders: Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture", figure 1; the pre-norm
stack, whose stream is never normalized on its way, ends in a norm of its own there. Attention: Vaswani et al. 2017,
section 3.2. MLP with GELU: Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words", section 3.1.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def masked_softmax(scores, mask=None):
    """Attention weights (batch, num_heads, q_len, k_len); a query that may attend to nothing gets zero weights."""
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=scores.device)
    hidden = ~mask
    # Finite, because a fully masked row of minus infinities would be 0 / 0 in the softmax.
    fill = torch.finfo(scores.dtype).min
    scores = scores.masked_fill(hidden, fill)
    weights = torch.softmax(scores, dim=-1)
    return weights.masked_fill(hidden, 0.0)


class MultiHeadSelfAttention(nn.Module):
    """Every token attends to the tokens that the mask lets it see; the heads are chunks of the feature axis."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        query = self.split_heads(self.q_proj(x))  # (batch, num_heads, seq_len, d_head)
        key = self.split_heads(self.k_proj(x))
        value = self.split_heads(self.v_proj(x))
        scores = query @ key.transpose(-2, -1)  # (batch, num_heads, seq_len, seq_len)
        scores = scores / math.sqrt(self.d_head)
        weights = masked_softmax(scores, mask)
        heads = weights @ value
        merged = heads.transpose(1, 2).flatten(2)  # (batch, seq_len, d_model)
        return self.o_proj(merged)

    def split_heads(self, x):
        """(batch, seq_len, d_model) to (batch, num_heads, seq_len, d_head)"""
        heads = x.unflatten(-1, (self.num_heads, self.d_head))
        return heads.transpose(1, 2)


class MLP(nn.Module):
    """Two linear maps with a GELU between them, applied to each token alone."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = self.fc1(x)  # (batch, seq_len, d_ff)
        activated = F.gelu(hidden)
        return self.fc2(activated)


class Block(nn.Module):
    """One block; ``norm_first`` says whether each norm stands before its sublayer or after the add."""

    def __init__(self, d_model, num_heads, d_ff, norm_first):
        super().__init__()
        self.norm_first = norm_first
        self.norm1 = nn.LayerNorm(d_model, eps=1e-5)
        self.attention = MultiHeadSelfAttention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model, eps=1e-5)
        self.mlp = MLP(d_model, d_ff)

    def forward(self, x, mask=None):
        if self.norm_first:
            return self.pre_norm(x, mask)
        return self.post_norm(x, mask)

    def pre_norm(self, x, mask):
        attention_input = self.norm1(x)
        attention_output = self.attention(attention_input, mask)
        x = x + attention_output  # not in place: the stream before this block is kept
        mlp_input = self.norm2(x)
        mlp_output = self.mlp(mlp_input)
        return x + mlp_output

    def post_norm(self, x, mask):
        attention_output = self.attention(x, mask)
        x = self.norm1(x + attention_output)
        mlp_output = self.mlp(x)
        return self.norm2(x + mlp_output)


class BlockStack(nn.Module):
    """Blocks with weights of their own, one after the other; only a pre-norm stack ends in a norm."""

    def __init__(self, num_blocks, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        if num_blocks < 0:
            raise ValueError(f"num_blocks is {num_blocks}; a stack has 0 blocks or more")
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        blocks = [Block(d_model, num_heads, d_ff, norm_first) for _ in range(num_blocks)]
        self.blocks = nn.ModuleList(blocks)
        self.norm_first = norm_first
        if norm_first:
            self.norm = nn.LayerNorm(d_model, eps=1e-5)

    def forward(self, x, mask=None, return_stream=False):
        stream = [x]
        for block in self.blocks:
            x = block(x, mask)
            stream.append(x)
        output = x
        if self.norm_first:
            output = self.norm(x)
        if return_stream:
            return output, stream
        return output
