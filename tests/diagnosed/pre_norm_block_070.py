import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask):
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)

        # cut the last axis into chunks and stack them on a new head axis
        q = torch.stack(q.chunk(self.num_heads, dim=-1), dim=1)
        k = torch.stack(k.chunk(self.num_heads, dim=-1), dim=1)
        v = torch.stack(v.chunk(self.num_heads, dim=-1), dim=1)
        width = q.shape[-1]

        logits = torch.einsum("bhid,bhjd->bhij", q, k)
        logits = logits / (width**0.5)
        if mask is not None:
            logits = logits.masked_fill(mask == False, torch.finfo(logits.dtype).min)  # noqa: E712
        probabilities = torch.softmax(logits, dim=-1)
        if mask is not None:
            probabilities = probabilities.masked_fill(mask == False, 0.0)  # noqa: E712
        probabilities = self.drop(probabilities)

        out = torch.einsum("bhij,bhjd->bhid", probabilities, v)
        list_of_heads = list(out.unbind(dim=1))
        out = torch.cat(list_of_heads, dim=-1)
        return self.o_proj(out)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)
        self.act = nn.GELU(approximate="none")
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        x = self.fc1(x)
        x = self.act(x)
        x = self.drop(x)
        x = self.fc2(x)
        x = self.drop(x)
        return x


class PreNormBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads do not fit into {d_model} features")
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = SelfAttention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = FeedForward(d_model, d_ff, dropout)

    def forward(self, x, mask=None):
        # attention
        x = self.norm1(x)
        x = self.attention(x, mask)
        x = x + x

        # mlp
        residual = x
        x = self.norm2(x)
        x = self.mlp(x)
        x = residual + x
        return x
