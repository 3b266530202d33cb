"""Axes: b batch, i and j positions, d stream, h heads, e features of a head, v vocabulary."""
import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, d, h, rate):
        super().__init__()
        self.h = h
        self.rate = rate
        self.q_proj = nn.Linear(d, d)
        self.k_proj = nn.Linear(d, d)
        self.v_proj = nn.Linear(d, d)
        self.o_proj = nn.Linear(d, d)

    def forward(self, x_bid):
        q_bihe = self.q_proj(x_bid).unflatten(2, (self.h, -1))
        k_bjhe = self.k_proj(x_bid).unflatten(2, (self.h, -1))
        v_bjhe = self.v_proj(x_bid).unflatten(2, (self.h, -1))
        scores_bhij = torch.einsum("bihe,bjhe->bhij", q_bihe, k_bjhe) / q_bihe.shape[3] ** 0.5
        past_ij = torch.ones_like(scores_bhij[0, 0], dtype=torch.bool).tril()
        weights_bhij = scores_bhij.masked_fill(~past_ij, float("-inf")).softmax(dim=3)
        weights_bhij = F.dropout(weights_bhij, p=self.rate, training=self.training)
        mixed_bihe = torch.einsum("bhij,bjhe->bihe", weights_bhij, v_bjhe)
        return self.o_proj(mixed_bihe.flatten(2))


class Mlp(nn.Module):
    def __init__(self, d, f, rate):
        super().__init__()
        self.fc1 = nn.Linear(d, f)
        self.fc2 = nn.Linear(f, d)
        self.rate = rate

    def forward(self, x_bid):
        h_bif = F.dropout(F.gelu(self.fc1(x_bid)), p=self.rate, training=self.training)
        return F.dropout(self.fc2(h_bif), p=self.rate, training=self.training)


class Block(nn.Module):
    def __init__(self, d, f, h, rate):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attention = Attention(d, h, rate)
        self.norm2 = nn.LayerNorm(d)
        self.mlp = Mlp(d, f, rate)

    def forward(self, x_bid):
        x_bid = x_bid + self.attention(self.norm1(x_bid))
        return x_bid + self.mlp(self.norm2(x_bid))


class DecoderOnlyLM(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        if num_blocks < 0:
            raise ValueError(f"num_blocks can't be {num_blocks}")
        if d_model % num_heads:
            raise ValueError(f"axis d of size {d_model} has no {num_heads} equal parts")
        self.max_len = max_len
        self.rate = dropout
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(Block(d_model, d_ff, num_heads, dropout) for _ in range(num_blocks))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids, offset=0):
        if offset < 0 or offset + ids.shape[1] > self.max_len:
            raise ValueError(f"positions {offset} to {offset + ids.shape[1] - 1} are not in 0 to {self.max_len - 1}")
        position_i = torch.arange(ids.shape[1]) + offset
        x_bid = self.tokens(ids) + self.positions(position_i)
        x_bid = F.dropout(x_bid, p=self.rate, training=self.training)
        for block in self.blocks:
            x_bid = block(x_bid)
        return torch.einsum("bid,vd->biv", self.norm(x_bid), self.head.weight)
