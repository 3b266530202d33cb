import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.weight_dropout = nn.Dropout(dropout)

    def to_heads(self, x):
        batch = x.shape[0]
        seq_len = x.shape[1]
        x = x.reshape(batch, seq_len, self.num_heads, self.d_head)
        x = x.transpose(1, 2)
        return x

    def forward(self, x, mask):
        batch = x.shape[0]
        seq_len = x.shape[1]
        d_model = x.shape[2]

        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        q = self.to_heads(q)
        k = self.to_heads(k)
        v = self.to_heads(v)

        scores = q @ k.transpose(2, 3)
        scores = scores / math.sqrt(self.d_head)
        if mask is not None:
            lowest = torch.finfo(scores.dtype).min
            scores = torch.where(mask, scores, lowest)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights * mask.to(weights.dtype)
        weights = self.weight_dropout(weights)

        heads = weights @ v
        heads = heads.transpose(1, 2)
        merged = heads.reshape(batch, seq_len, d_model)
        output = self.o_proj(merged)
        return output


class MLP(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.gelu = nn.GELU()
        self.dropout1 = nn.Dropout(dropout)
        self.fc2 = nn.Linear(d_ff, d_model)
        self.dropout2 = nn.Dropout(dropout)

    def forward(self, x):
        hidden = self.fc1(x)
        hidden = self.gelu(hidden)
        hidden = self.dropout1(hidden)
        output = self.fc2(hidden)
        output = self.dropout2(output)
        return output


class PreNormBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x, mask=None):
        normed1 = self.norm1(x)
        attention_output = self.attention(normed1, mask)
        after_attention = x + attention_output

        normed2 = self.norm2(after_attention)
        mlp_output = self.mlp(normed2)
        after_mlp = after_attention + mlp_output
        return after_mlp
