"""Model answer: the decoder block of the original transformer, post-norm.

Vaswani et al. 2017, "Attention Is All You Need" (arXiv 1706.03762), figure 1 on the right, sections 3.1 and 3.2.3;
dropout on each sublayer's output from section 5.4, on the attention weights as in Dive into Deep Learning's
transformer. Prince, Understanding Deep Learning, section 12.8 and figure 12.14: where queries, keys and values of
cross-attention come from.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def causal_mask(seq_len, device):
    """(seq_len, seq_len), True where the key is not later than the query."""
    everything = torch.ones(seq_len, seq_len, dtype=torch.bool, device=device)
    return everything.tril()


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


class MultiHeadAttention(nn.Module):
    """Queries of one sequence, keys and values of another one or the same; heads are chunks of the feature axis."""

    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, stream, memory, mask=None):
        query = self.split_heads(self.q_proj(stream))  # (batch, num_heads, q_len, d_head)
        key = self.split_heads(self.k_proj(memory))  # (batch, num_heads, k_len, d_head)
        value = self.split_heads(self.v_proj(memory))
        scores = query @ key.transpose(-2, -1)  # (batch, num_heads, q_len, k_len)
        scores = scores / math.sqrt(self.d_head)
        weights = masked_softmax(scores, mask)
        weights = self.dropout(weights)
        heads = weights @ value  # (batch, num_heads, q_len, d_head)
        merged = self.merge_heads(heads)
        return self.o_proj(merged)  # (batch, q_len, d_model)

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


class TransformerDecoderBlock(nn.Module):
    """Causal self-attention, cross-attention to the encoder's output, a feed-forward network; a norm after each add."""

    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        self.d_model = d_model
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.addnorm2 = AddNorm(d_model, dropout)
        self.ffn = PositionWiseFFN(d_model, d_ff)
        self.addnorm3 = AddNorm(d_model, dropout)

    def forward(self, x, encoder_output, self_mask=None, cross_mask=None):
        width = encoder_output.shape[-1]
        if width != self.d_model:
            raise ValueError(f"encoder_output has width {width} but d_model is {self.d_model}")
        visible = causal_mask(x.shape[1], x.device)  # in evaluation too
        if self_mask is not None:
            visible = visible & self_mask
        self_output = self.self_attention(x, x, visible)
        y = self.addnorm1(x, self_output)
        cross_output = self.cross_attention(y, encoder_output, cross_mask)
        z = self.addnorm2(y, cross_output)
        ffn_output = self.ffn(z)
        return self.addnorm3(z, ffn_output)
