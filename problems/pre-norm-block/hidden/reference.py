"""Model answer: the pre-norm transformer block.

Order of the norms: Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture", figure 1(b). With GELU
it is the encoder block of Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words", equations 2 and 3; dropout acts
where Dive into Deep Learning's vision transformer has it. Attention: Vaswani et al. 2017, section 3.2.
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

    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        query = self.split_heads(self.q_proj(x))  # (batch, num_heads, seq_len, d_head)
        key = self.split_heads(self.k_proj(x))
        value = self.split_heads(self.v_proj(x))
        scores = query @ key.transpose(-2, -1)  # (batch, num_heads, seq_len, seq_len)
        scores = scores / math.sqrt(self.d_head)
        weights = masked_softmax(scores, mask)
        weights = self.dropout(weights)
        heads = weights @ value
        merged = self.merge_heads(heads)
        return self.o_proj(merged)

    def split_heads(self, x):
        """(batch, seq_len, d_model) to (batch, num_heads, seq_len, d_head)"""
        batch, seq_len, d_model = x.shape
        heads = x.reshape(batch, seq_len, self.num_heads, self.d_head)
        return heads.transpose(1, 2)

    def merge_heads(self, heads):
        """(batch, num_heads, seq_len, d_head) to (batch, seq_len, d_model)"""
        batch, num_heads, seq_len, d_head = heads.shape
        heads = heads.transpose(1, 2)
        return heads.reshape(batch, seq_len, num_heads * d_head)


class MLP(nn.Module):
    """Two linear maps with a GELU between them, applied to each token alone."""

    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = self.fc1(x)  # (batch, seq_len, d_ff)
        activated = F.gelu(hidden)
        activated = self.dropout(activated)
        output = self.fc2(activated)  # (batch, seq_len, d_model)
        return self.dropout(output)


class PreNormBlock(nn.Module):
    """x + attention(norm1(x)), then x + mlp(norm2(x)): the residual stream itself is never normalized."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        self.norm1 = nn.LayerNorm(d_model, eps=1e-5)
        self.attention = MultiHeadSelfAttention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model, eps=1e-5)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x, mask=None):
        attention_input = self.norm1(x)
        attention_output = self.attention(attention_input, mask)
        x = x + attention_output  # not in place: x belongs to the caller
        mlp_input = self.norm2(x)
        mlp_output = self.mlp(mlp_input)
        return x + mlp_output
