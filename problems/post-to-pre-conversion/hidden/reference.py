"""Model answer: the encoder block in pre-norm order, and what had to be edited in the post-norm one.

The two orders: Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture" (arXiv 2002.04745),
figure 1. The block itself: Vaswani et al. 2017, "Attention Is All You Need" (arXiv 1706.03762), sections 3.1 to 3.3,
with dropout on each sublayer's output, section 5.4.
"""

import math

import torch
from torch import nn

MOVED_LINES = ("L4", "L8")  # each norm goes in front of the sublayer that it used to follow
REWIRED_LINES = ("L1", "L5")  # each sublayer reads what its norm gives; the adds L3 and L7 keep the raw stream


class SelfAttention(nn.Module):
    """Multi-head self-attention; the heads are consecutive chunks of the feature axis."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
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
        if mask is not None:
            # The smallest finite number, not -inf: a token that may attend to nothing keeps finite gradients.
            lowest = torch.finfo(scores.dtype).min
            scores = scores.masked_fill(~mask, lowest)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        heads = weights @ value  # (batch, num_heads, seq_len, d_head)
        merged = heads.transpose(1, 2).flatten(2)  # (batch, seq_len, d_model)
        return self.o_proj(merged)

    def split_heads(self, x):
        heads = x.unflatten(-1, (self.num_heads, self.d_head))
        return heads.transpose(1, 2)


class MLP(nn.Module):
    """Two linear maps with a ReLU between them, on each token alone."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = self.fc1(x)  # (batch, seq_len, d_ff)
        hidden = torch.relu(hidden)
        return self.fc2(hidden)


class EncoderBlock(nn.Module):
    """x = x + attention(norm1(x)), then x = x + mlp(norm2(x)): nothing normalizes the residual stream itself."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = SelfAttention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = MLP(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attention_input = self.norm1(x)  # L4, moved
        attention_output = self.attention(attention_input, mask)  # L1, rewired
        attention_output = self.dropout(attention_output)  # L2
        x = x + attention_output  # L3
        mlp_input = self.norm2(x)  # L8, moved
        mlp_output = self.mlp(mlp_input)  # L5, rewired
        mlp_output = self.dropout(mlp_output)  # L6
        x = x + mlp_output  # L7
        return x  # noqa: RET504
