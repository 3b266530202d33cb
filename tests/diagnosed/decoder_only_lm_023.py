import math

import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        length = x.shape[1]
        future = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        queries = self.q_proj(x).chunk(self.num_heads, dim=-1)
        keys = self.k_proj(x).chunk(self.num_heads, dim=-1)
        values = self.v_proj(x).chunk(self.num_heads, dim=-1)
        outputs = []
        for q, k, v in zip(queries, keys, values):
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            weights = torch.softmax(scores.masked_fill(future, -math.inf), dim=-1)
            outputs.append(self.drop(weights) @ v)
        return self.o_proj(torch.cat(outputs, dim=-1))


class MLP(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        hidden = self.drop(nn.functional.gelu(self.fc1(x)))
        return self.drop(self.fc2(hidden))


class PreNormBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class DecoderOnlyLM(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} must divide d_model {d_model}")
        if num_blocks < 0:
            raise ValueError(f"num_blocks {num_blocks} is negative")
        self.max_len = max_len
        self.tokens = nn.Embedding(vocab_size, d_model, scale_grad_by_freq=True)
        self.positions = nn.Embedding(max_len, d_model)
        self.drop = nn.Dropout(dropout)
        self.blocks = nn.ModuleList()
        for _ in range(num_blocks):
            self.blocks.append(PreNormBlock(d_model, d_ff, num_heads, dropout))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids, offset=0):
        end = offset + ids.shape[1]
        if offset < 0:
            raise ValueError(f"offset {offset} is negative")
        if end > self.max_len:
            raise ValueError(f"{end} positions are more than max_len, {self.max_len}")
        places = torch.arange(offset, end, device=ids.device)
        x = self.drop(self.tokens(ids) + self.positions(places))
        for i in range(len(self.blocks)):
            x = self.blocks[i](x)
        return self.head(self.norm(x))
