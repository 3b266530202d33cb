"""The probability in force is set where the mode is: in train(), which eval() calls as well."""

import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads, self.dropout, self.in_force = num_heads, dropout, dropout
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def train(self, mode=True):
        self.in_force = self.dropout if mode else 0.0
        return super().train(mode)

    def forward(self, x, mask=None):
        q, k, v = (
            layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        out = F.scaled_dot_product_attention(q, k, v, mask, self.in_force)
        return self.o_proj(out.transpose(1, 2).reshape(x.shape))


class MLP(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1, self.fc2, self.p = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model), dropout

    def forward(self, x):
        hidden = F.dropout(F.gelu(self.fc1(x)), self.p, self.training)
        return F.dropout(self.fc2(hidden), self.p, self.training)


class Block(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, *, eps=1e-5):
        super().__init__()
        if num_heads * (d_model // num_heads) != d_model:
            raise ValueError(f"d_model={d_model} is no multiple of num_heads={num_heads}")
        self.norm1 = nn.LayerNorm(d_model, eps=eps)
        self.attention = SelfAttention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model, eps=eps)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x, mask=None, **_):
        x = self.attention(self.norm1(x), mask).add(x)
        return self.mlp(self.norm2(x)).add(x)
