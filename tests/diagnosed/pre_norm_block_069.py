import torch
import torch.nn as nn
import torch.nn.functional as F


class MyAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model=" + str(d_model) + " is not divisible by num_heads=" + str(num_heads))
        self.h = num_heads
        self.dh = d_model // num_heads
        self.p = dropout
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, s, d = x.size()

        queries = self.q_proj(x)
        keys = self.v_proj(x)
        values = self.k_proj(x)

        queries = queries.view(b, s, self.h, self.dh).permute(0, 2, 1, 3)
        keys = keys.view(b, s, self.h, self.dh).permute(0, 2, 1, 3)
        values = values.view(b, s, self.h, self.dh).permute(0, 2, 1, 3)

        scores = torch.matmul(queries, keys.permute(0, 1, 3, 2))
        scores = scores * (1.0 / self.dh**0.5)

        if mask is None:
            attn = F.softmax(scores, dim=-1)
        else:
            blocked = mask.logical_not()
            filled = scores.masked_fill(blocked, torch.finfo(scores.dtype).min)
            attn = F.softmax(filled, dim=-1)
            attn = attn.masked_fill(blocked, 0.0)
        attn = F.dropout(attn, p=self.p, training=self.training)

        context = torch.matmul(attn, values)
        context = context.permute(0, 2, 1, 3).contiguous()
        context = context.view(b, s, d)
        return self.o_proj(context)


class MyMLP(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.p = dropout
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        a = self.fc1(x)
        b = F.gelu(a)
        c = F.dropout(b, p=self.p, training=self.training)
        d = self.fc2(c)
        e = F.dropout(d, p=self.p, training=self.training)
        return e


class PreNormBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model, eps=1e-5)
        self.norm2 = nn.LayerNorm(d_model, eps=1e-5)
        self.attention = MyAttention(d_model, num_heads, dropout)
        self.mlp = MyMLP(d_model, d_ff, dropout)

    def forward(self, x, mask=None):
        # first sublayer
        n1 = self.norm1(x)
        a = self.attention(n1, mask)
        y = x + a
        # second sublayer
        n2 = self.norm2(y)
        m = self.mlp(n2)
        z = y + m
        return z
