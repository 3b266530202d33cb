import torch
from torch import nn
from torch.nn import functional as F

ATTENTION_DROPOUT = 0.1


class SelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(ATTENTION_DROPOUT)

    def forward(self, x, mask=None):
        batch, seq_len, d_model = x.shape
        d_head = d_model // self.num_heads
        queries, keys, values = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        if mask is not None:
            mask = mask.expand(batch, self.num_heads, seq_len, seq_len)
        heads = []
        for h in range(self.num_heads):
            columns = slice(h * d_head, h * d_head + d_head)
            scores = queries[..., columns] @ keys[..., columns].transpose(-2, -1) / d_head ** 0.5
            if mask is None:
                weights = scores.softmax(dim=-1)
            else:
                unseen = ~mask[:, h]
                weights = scores.masked_fill(unseen, torch.finfo(scores.dtype).min).softmax(dim=-1)
                weights = weights.masked_fill(unseen, 0.0)
            heads.append(self.drop(weights) @ values[..., columns])
        return self.o_proj(torch.cat(heads, dim=-1))


class MLP(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        hidden = self.drop(F.gelu(self.fc1(x)))
        return self.drop(self.fc2(hidden))


class Block(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = SelfAttention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm1(x), mask)
        x = x + self.mlp(self.norm2(x))
        return x
