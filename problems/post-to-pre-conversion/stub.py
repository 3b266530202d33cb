"""A working post-norm encoder block, to be turned into a pre-norm one."""

import math

import torch
from torch import nn

# The labels, "L1" to "L8", of the statements in EncoderBlock.forward below, for the edit that leaves L3 and L7 alone:
MOVED_LINES = ()  # the statements whose place in the order changes
REWIRED_LINES = ()  # the statements that stay in their place and read another input


class EncoderBlock(nn.Module):
    """x = norm1(x + attention(x)), then x = norm2(x + mlp(x))."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = SelfAttention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = MLP(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        """x (batch, seq_len, d_model); mask None or boolean, True = may attend; returns (batch, seq_len, d_model)."""
        attention_output = self.attention(x, mask)  # L1
        attention_output = self.dropout(attention_output)  # L2
        x = x + attention_output  # L3
        x = self.norm1(x)  # L4
        mlp_output = self.mlp(x)  # L5
        mlp_output = self.dropout(mlp_output)  # L6
        x = x + mlp_output  # L7
        x = self.norm2(x)  # L8
        return x  # noqa: RET504


class SelfAttention(nn.Module):
    """Multi-head self-attention; a token that may attend to nothing gets the bias of o_proj. Nothing to change here."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        query = self.split_heads(self.q_proj(x))  # (batch, num_heads, seq_len, d_head)
        key = self.split_heads(self.k_proj(x))
        value = self.split_heads(self.v_proj(x))
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # (batch, num_heads, seq_len, seq_len)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        heads = weights @ value  # (batch, num_heads, seq_len, d_head)
        return self.o_proj(heads.transpose(1, 2).flatten(2))

    def split_heads(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)


class MLP(nn.Module):
    """Two linear maps with a ReLU between them. Nothing to change here."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))
