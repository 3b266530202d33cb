"""Model answer: the encoder-decoder of the original transformer, post-norm.

Vaswani et al. 2017, "Attention Is All You Need" (arXiv 1706.03762): figure 1, section 3.4 for the embeddings, section
3.5 for the positions, section 5.4 for dropout on their sum. The assembly and its names as in Dive into Deep Learning's
transformer; a separate table for each language and a head of its own.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def sinusoidal_positions(seq_len, d_model, device):
    """(seq_len, d_model) in float64: sines in the even columns, cosines in the odd ones."""
    steps = torch.arange(seq_len, dtype=torch.float64, device=device)  # (seq_len,)
    even_columns = torch.arange(0, d_model, 2, dtype=torch.float64, device=device)  # (d_model / 2,)
    exponents = even_columns / d_model
    wavelengths = 10000.0**exponents  # over 2 pi
    angles = steps.unsqueeze(1) / wavelengths  # (seq_len, d_model / 2)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (seq_len, d_model / 2, 2)
    return pairs.flatten(1)


def padding_mask(lengths, max_len):
    """(batch, 1, 1, max_len), True at the first lengths[i] keys of sequence i; None hides nothing."""
    if lengths is None:
        return None
    places = torch.arange(max_len, device=lengths.device)
    visible = places < lengths.unsqueeze(1)  # (batch, max_len)
    return visible[:, None, None, :]


def causal_mask(seq_len, device):
    """(seq_len, seq_len), True where the key is not later than the query."""
    everything = torch.ones(seq_len, seq_len, dtype=torch.bool, device=device)
    return everything.tril()


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
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)  # every query sees at least one key here
        weights = torch.softmax(scores, dim=-1)  # (batch, num_heads, q_len, k_len)
        weights = self.dropout(weights)
        heads = weights @ value
        return self.o_proj(heads.transpose(1, 2).flatten(2))  # (batch, q_len, d_model)

    def split_heads(self, x):
        """(batch, seq_len, d_model) to (batch, num_heads, seq_len, d_head)"""
        return x.unflatten(-1, (self.num_heads, self.d_head)).transpose(1, 2)


class PositionWiseFFN(nn.Module):
    """Two linear maps with a ReLU between them, applied to each token alone."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = F.relu(self.fc1(x))  # (batch, seq_len, d_ff)
        return self.fc2(hidden)


class AddNorm(nn.Module):
    """LayerNorm(x + dropout(sublayer_output))"""

    def __init__(self, d_model, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(d_model, eps=1e-5)

    def forward(self, x, sublayer_output):
        dropped = self.dropout(sublayer_output)
        return self.norm(x + dropped)


class TransformerEncoderBlock(nn.Module):
    """Self-attention and a feed-forward network, a norm after each add."""

    def __init__(self, d_model, d_ff, num_heads, dropout):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.ffn = PositionWiseFFN(d_model, d_ff)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x, mask=None):
        y = self.addnorm1(x, self.attention(x, x, mask))
        return self.addnorm2(y, self.ffn(y))


class TransformerDecoderBlock(nn.Module):
    """Causal self-attention, cross-attention to the encoder's output, a feed-forward network; a norm after each add."""

    def __init__(self, d_model, d_ff, num_heads, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.addnorm2 = AddNorm(d_model, dropout)
        self.ffn = PositionWiseFFN(d_model, d_ff)
        self.addnorm3 = AddNorm(d_model, dropout)

    def forward(self, x, encoder_output, cross_mask=None):
        past = causal_mask(x.shape[1], x.device)
        y = self.addnorm1(x, self.self_attention(x, x, past))
        z = self.addnorm2(y, self.cross_attention(y, encoder_output, cross_mask))
        return self.addnorm3(z, self.ffn(z))


class EncoderDecoder(nn.Module):
    """Source ids to encoder output; target ids and encoder output to logits."""

    def __init__(self, source_vocab, target_vocab, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        if d_model % 2 != 0:
            raise ValueError(f"d_model {d_model} is odd, but every sine of a position needs its cosine")
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        if num_blocks < 0:
            raise ValueError(f"num_blocks {num_blocks} is negative")
        self.d_model = d_model
        self.source_tokens = nn.Embedding(source_vocab, d_model)
        self.target_tokens = nn.Embedding(target_vocab, d_model)
        self.dropout = nn.Dropout(dropout)
        sizes = (d_model, d_ff, num_heads)
        encoder_blocks = [TransformerEncoderBlock(*sizes, dropout) for _ in range(num_blocks)]
        decoder_blocks = [TransformerDecoderBlock(*sizes, dropout) for _ in range(num_blocks)]
        self.encoder_blocks = nn.ModuleList(encoder_blocks)
        self.decoder_blocks = nn.ModuleList(decoder_blocks)
        self.head = nn.Linear(d_model, target_vocab)

    def embed(self, tokens, ids):
        """ids (batch, seq_len) to (batch, seq_len, d_model): scaled embeddings plus positions from 0 on."""
        x = tokens(ids) * math.sqrt(self.d_model)
        positions = sinusoidal_positions(ids.shape[1], self.d_model, ids.device)
        x = x + positions.to(x.dtype)
        return self.dropout(x)

    def encode(self, source, source_lengths=None):
        mask = padding_mask(source_lengths, source.shape[1])
        x = self.embed(self.source_tokens, source)  # (batch, source_len, d_model)
        for block in self.encoder_blocks:
            x = block(x, mask)
        return x

    def decode(self, target, encoder_output, source_lengths=None):
        cross_mask = padding_mask(source_lengths, encoder_output.shape[1])
        x = self.embed(self.target_tokens, target)  # (batch, target_len, d_model)
        for block in self.decoder_blocks:
            x = block(x, encoder_output, cross_mask)
        return self.head(x)  # (batch, target_len, target_vocab)

    def forward(self, source, target, source_lengths=None):
        encoder_output = self.encode(source, source_lengths)
        return self.decode(target, encoder_output, source_lengths)
