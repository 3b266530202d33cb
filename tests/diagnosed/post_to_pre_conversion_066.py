import math

import torch
from torch import nn

MOVED_LINES = {"L8", "L4"}
REWIRED_LINES = {"L5", "L1"}


class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = SelfAttention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = MLP(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        sublayers = [
            (self.norm1, lambda h: self.attention(h, mask)),
            (self.norm2, self.mlp),
        ]
        for norm, sublayer in sublayers:
            normed = norm(x)
            update = sublayer(x)
            x = x + self.dropout(update)
        return x


class SelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model {d_model} is no multiple of num_heads {num_heads}")
        self.num_heads = num_heads
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, x, mask=None):
        batch, seq_len, d_model = x.shape
        if mask is not None:
            mask = mask.expand(batch, self.num_heads, seq_len, seq_len)
        d_head = d_model // self.num_heads
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)

        outputs = []
        for head in range(self.num_heads):
            part = slice(head * d_head, (head + 1) * d_head)
            q, k, v = query[..., part], key[..., part], value[..., part]
            scores = q @ k.transpose(1, 2) / math.sqrt(d_head)
            if mask is not None:
                hidden = ~mask[:, head]
                scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
            weights = scores.softmax(-1)
            if mask is not None:
                weights = weights.masked_fill(hidden, 0.0)
            outputs.append(weights @ v)
        return self.o_proj(torch.cat(outputs, dim=-1))


class MLP(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        for layer in (self.fc1, torch.relu, self.fc2):
            x = layer(x)
        return x
