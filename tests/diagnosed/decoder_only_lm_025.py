import torch
from torch import nn
from torch.nn import functional as F


class Heads(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            self.add_module(name, nn.Linear(d_model, d_model))

    def forward(self, x):
        n, width = x.size(1), x.size(2) // self.num_heads
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        hidden = torch.arange(n, device=x.device)[None, :] > torch.arange(n, device=x.device)[:, None]
        merged = torch.zeros_like(q)
        pieces = []
        for first in range(0, merged.size(2), width):
            last = first + width
            score = torch.matmul(q[:, :, first:last], k[:, :, first:last].transpose(1, 2)) * width ** -0.5
            score = torch.where(hidden, torch.finfo(score.dtype).min, score)
            weight = F.dropout(F.softmax(score, dim=2), self.dropout, self.training)
            pieces.append(torch.matmul(weight, v[:, :, first:last]))
        return self.o_proj(torch.cat(pieces, 2))


class TwoMaps(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = dropout

    def forward(self, x):
        x = F.gelu(self.fc1(x))
        x = F.dropout(x, self.dropout, self.training)
        x = self.fc2(x)
        return F.dropout(x, self.dropout, self.training)


class Layer(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = Heads(d_model, num_heads, dropout)
        self.mlp = TwoMaps(d_model, d_ff, dropout)


class DecoderOnlyLM(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} features for {num_heads} heads")
        if num_blocks < 0:
            raise ValueError(f"a model of {num_blocks} blocks")
        self.max_len, self.d_model, self.dropout = max_len, d_model, dropout
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        layers = []
        for _ in range(num_blocks):
            layers.append(Layer(d_model, d_ff, num_heads, dropout))
        self.blocks = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids, offset=0):
        n = ids.size(1)
        if offset < 0:
            raise ValueError(f"offset must be 0 or more, not {offset}")
        if offset + n > self.max_len:
            raise ValueError(f"offset {offset} and {n} tokens go beyond max_len {self.max_len}")
        x = self.tokens(ids) * self.d_model ** 0.5
        x = x + self.positions.weight[offset:offset + n]
        x = F.dropout(x, self.dropout, self.training)
        for layer in self.blocks:
            x = x + layer.attention(layer.norm1(x))
            x = x + layer.mlp(layer.norm2(x))
        return self.head(self.norm(x))
