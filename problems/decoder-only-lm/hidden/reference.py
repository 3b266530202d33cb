"""Model answer: a decoder-only language model with tied embeddings.

The assembly is GPT-2's: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3: norms
in front of the sublayers, one more after the last block, learned positions. The head is the token embedding: Press and
Wolf 2017, "Using the Output Embedding to Improve Language Models".
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


class CausalSelfAttention(nn.Module):
    """Every token attends to itself and to earlier tokens; the heads are chunks of the feature axis."""

    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        seq_len = x.shape[1]
        query = self.split_heads(self.q_proj(x))  # (batch, num_heads, seq_len, d_head)
        key = self.split_heads(self.k_proj(x))
        value = self.split_heads(self.v_proj(x))
        scores = query @ key.transpose(-2, -1)  # (batch, num_heads, seq_len, seq_len)
        scores = scores / math.sqrt(self.d_head)
        visible = torch.ones(seq_len, seq_len, dtype=torch.bool, device=x.device).tril()
        scores = scores.masked_fill(~visible, -math.inf)  # no row is empty: a token sees itself
        weights = torch.softmax(scores, dim=-1)
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


class Block(nn.Module):
    """x + attention(norm1(x)), then x + mlp(norm2(x))."""

    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model, eps=1e-5)
        self.attention = CausalSelfAttention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model, eps=1e-5)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x):
        attention_input = self.norm1(x)
        x = x + self.attention(attention_input)
        mlp_input = self.norm2(x)
        return x + self.mlp(mlp_input)


class DecoderOnlyLM(nn.Module):
    """Embeddings, causal blocks, a final norm, and the token embedding once more as the head."""

    def __init__(self, vocab_size, max_len, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        if num_blocks < 0:
            raise ValueError(f"num_blocks is {num_blocks}, expected 0 or more")
        self.max_len = max_len
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, dropout) for _ in range(num_blocks)])
        self.norm = nn.LayerNorm(d_model, eps=1e-5)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.tokens.weight  # one parameter under two names, not two with one value

    def forward(self, ids, offset=0):
        seq_len = ids.shape[1]
        if offset < 0:
            raise ValueError(f"offset is {offset}, expected 0 or more")
        if offset + seq_len > self.max_len:
            raise ValueError(
                f"offset {offset} and {seq_len} tokens need {offset + seq_len} positions, but max_len is {self.max_len}"
            )
        position_ids = torch.arange(offset, offset + seq_len, device=ids.device)
        x = self.tokens(ids) + self.positions(position_ids)  # (batch, seq_len, d_model)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return self.head(x)
