"""One product for queries, keys and values, with the weights joined in forward, and PyTorch's fused attention."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, width, heads, p):
        super().__init__()
        self.heads, self.p = heads, p
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, mask):
        maps = (self.q_proj, self.k_proj, self.v_proj)
        weight, bias = torch.cat([m.weight for m in maps]), torch.cat([m.bias for m in maps])
        qkv = F.linear(x, weight, bias).unflatten(-1, (3, self.heads, -1))
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        p = self.p if self.training else 0.0
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)
        return self.o_proj(heads.transpose(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self, width, hidden, p):
        super().__init__()
        self.fc1, self.fc2, self.p = nn.Linear(width, hidden), nn.Linear(hidden, width), p

    def forward(self, x):
        hidden = F.dropout(F.gelu(self.fc1(x)), self.p, self.training)
        return F.dropout(self.fc2(hidden), self.p, self.training)


class PreNormBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not fit into {d_model} features")
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention, self.mlp = Attention(d_model, num_heads, dropout), MLP(d_model, d_ff, dropout)

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))
