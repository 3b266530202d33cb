"""Model answer: the encoder block of the original transformer, post-norm.

Vaswani et al. 2017, "Attention Is All You Need" (arXiv 1706.03762), figure 1 on the left, sections 3.1 to 3.3; dropout
on each sublayer's output from section 5.4, on the attention weights as in Dive into Deep Learning's transformer. The
order add, norm, add, norm is also equation 12.13 of Prince's Understanding Deep Learning.
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


class PositionWiseFFN(nn.Module):
    """Two linear maps with a ReLU between them, applied to each token alone; nothing is dropped inside."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = self.fc1(x)  # (batch, seq_len, d_ff)
        activated = F.relu(hidden)
        return self.fc2(activated)  # (batch, seq_len, d_model)


class AddNorm(nn.Module):
    """LayerNorm(x + dropout(sublayer_output))"""

    def __init__(self, d_model, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(d_model, eps=1e-5)

    def forward(self, x, sublayer_output):
        dropped = self.dropout(sublayer_output)
        total = x + dropped  # not in place: x belongs to the caller
        return self.norm(total)


class TransformerEncoderBlock(nn.Module):
    """y = addnorm1(x, attention(x)), then addnorm2(y, ffn(y)): every sum is normalized before it is read again."""

    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        self.attention = MultiHeadSelfAttention(d_model, num_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.ffn = PositionWiseFFN(d_model, d_ff)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x, mask=None):
        attention_output = self.attention(x, mask)
        y = self.addnorm1(x, attention_output)
        ffn_output = self.ffn(y)
        return self.addnorm2(y, ffn_output)
