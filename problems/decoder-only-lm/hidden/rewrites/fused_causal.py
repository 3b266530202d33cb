"""PyTorch's fused causal attention, positions as a slice of the table, blocks in a Sequential, the head functional."""

import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads, p):
        super().__init__()
        self.heads, self.p = heads, p
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        maps = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for layer in maps)
        p = self.p if self.training else 0.0
        heads = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)
        return self.o_proj(heads.transpose(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self, width, hidden, p):
        super().__init__()
        self.fc1, self.fc2, self.p = nn.Linear(width, hidden), nn.Linear(hidden, width), p

    def forward(self, x):
        hidden = F.dropout(F.gelu(self.fc1(x)), self.p, self.training)
        return F.dropout(self.fc2(hidden), self.p, self.training)


class Block(nn.Module):
    def __init__(self, width, heads, hidden, p):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.mlp = Attention(width, heads, p), MLP(width, hidden, p)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class DecoderOnlyLM(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not fit into {d_model} features")
        if num_blocks < 0:
            raise ValueError(f"{num_blocks} blocks")
        super().__init__()
        self.p = dropout
        self.tokens, self.positions = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len, d_model)
        self.blocks = nn.Sequential(*(Block(d_model, num_heads, d_ff, dropout) for _ in range(num_blocks)))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Module()  # a place for the name alone
        self.head.weight = self.tokens.weight

    def forward(self, ids, offset=0):
        length, last = len(self.positions.weight), offset + ids.size(1)
        if offset < 0 or last > length:
            raise ValueError(f"offset {offset} with {ids.size(1)} tokens leaves the {length} positions")
        x = self.tokens(ids) + self.positions.weight[offset:last]
        return F.linear(self.norm(self.blocks(F.dropout(x, self.p, self.training))), self.tokens.weight)
