import math

import torch
from torch import nn


def affine(layer, x):
    return torch.matmul(x, layer.weight.transpose(0, 1)) + layer.bias


class SelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch, seq_len, d_model = x.shape
        heads = self.num_heads
        d_head = d_model // heads
        # (batch * heads, seq_len, d_head)
        query = affine(self.q_proj, x).reshape(batch, seq_len, heads, d_head).transpose(1, 2)
        query = query.reshape(batch * heads, seq_len, d_head)
        key = affine(self.k_proj, x).reshape(batch, seq_len, heads, d_head).transpose(1, 2)
        key = key.reshape(batch * heads, seq_len, d_head)
        value = affine(self.v_proj, x).reshape(batch, seq_len, heads, d_head).transpose(1, 2)
        value = value.reshape(batch * heads, seq_len, d_head)
        # (batch * heads, seq_len, seq_len)
        scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(d_head)
        allowed = torch.tril(torch.ones(seq_len, seq_len, device=x.device), diagonal=1)
        scores = scores.masked_fill(allowed == 0, float("-inf"))
        scores = scores - scores.max(dim=2, keepdim=True).values
        exponentials = torch.exp(scores)
        weights = exponentials / exponentials.sum(dim=2, keepdim=True)
        weights = self.dropout(weights)
        # (batch, seq_len, d_model)
        result = torch.bmm(weights, value).reshape(batch, heads, seq_len, d_head)
        result = result.transpose(1, 2).reshape(batch, seq_len, d_model)
        return affine(self.o_proj, result)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)
        self.dropout1 = nn.Dropout(dropout)
        self.dropout2 = nn.Dropout(dropout)

    def forward(self, x):
        z = affine(self.fc1, x)
        z = z * 0.5 * (1.0 + torch.erf(z * math.sqrt(0.5)))
        z = self.dropout1(z)
        return self.dropout2(affine(self.fc2, z))


class Block(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = SelfAttention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = FeedForward(d_model, d_ff, dropout)

    def forward(self, x):
        after_attention = x + self.attention(self.norm1(x))
        return after_attention + self.mlp(self.norm2(after_attention))


class DecoderOnlyLM(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model={d_model} must be a multiple of num_heads={num_heads}")
        if num_blocks < 0:
            raise ValueError(f"num_blocks={num_blocks} must be 0 or more")
        self.max_len = max_len
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.embedding_dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList([Block(d_model, d_ff, num_heads, dropout) for _ in range(num_blocks)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids, offset=0):
        batch, seq_len = ids.shape
        if offset < 0 or offset + seq_len > self.max_len:
            raise ValueError(f"offset={offset} with {seq_len} tokens does not fit in {self.max_len} positions")
        token_rows = self.tokens.weight.index_select(0, ids.reshape(-1)).reshape(batch, seq_len, -1)
        position_rows = self.positions.weight[offset:offset + seq_len].unsqueeze(0)
        x = self.embedding_dropout(token_rows + position_rows)
        for block in self.blocks:
            x = block(x)
        return torch.matmul(self.norm(x), self.head.weight.transpose(0, 1))
