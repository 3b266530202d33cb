import math

import torch
from torch import nn


class MultiHead(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        batch, length, d_model = x.shape
        flat = x.reshape(batch * length, d_model)
        q = flat @ self.q_proj.weight.T + self.q_proj.bias
        k = flat @ self.k_proj.weight.T + self.k_proj.bias
        v = flat @ self.v_proj.weight.T + self.v_proj.bias
        q = q.reshape(batch, length, self.num_heads, self.d_head).permute(0, 2, 1, 3)
        k = k.reshape(batch, length, self.num_heads, self.d_head).permute(0, 2, 1, 3)
        v = v.reshape(batch, length, self.num_heads, self.d_head).permute(0, 2, 1, 3)
        scores = (q @ k.permute(0, 1, 3, 2)) / math.sqrt(self.d_head)
        if mask is not None:
            closed = torch.logical_not(mask)
            scores = scores.masked_fill(closed, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(closed, 0.0)
        weights = self.dropout(weights)
        merged = (weights @ v).permute(0, 2, 1, 3).reshape(batch * length, d_model)
        output = merged @ self.o_proj.weight.T + self.o_proj.bias
        output = output.reshape(batch, length, d_model)
        if mask is not None:
            full = mask.expand(batch, self.num_heads, length, length)
            open_keys = full.sum(dim=(1, 3)).reshape(batch, length, 1)
            output = torch.where(open_keys > 0, output, torch.zeros_like(output))
        return output


class Residual(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, output):
        return self.norm(x + self.dropout(output))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, y):
        hidden = y @ self.fc1.weight.T + self.fc1.bias
        hidden = torch.clamp(hidden, min=0.0)
        return hidden @ self.fc2.weight.T + self.fc2.bias


class TransformerEncoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        self.attention = MultiHead(d_model, num_heads, dropout)
        self.addnorm1 = Residual(d_model, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.addnorm2 = Residual(d_model, dropout)

    def forward(self, x, mask=None):
        y = self.addnorm1(x, self.attention(x, mask))
        return self.addnorm2(y, self.ffn(y))
