import torch
from torch import nn
from torch.nn import functional as F


def to_heads(t, n):
    b, s, d = t.shape
    return t.reshape(b, s, n, d // n).transpose(1, 2)


def from_heads(t):
    b, n, s, e = t.shape
    return t.transpose(1, 2).reshape(b, s, n * e)


def safe_softmax(scores, mask):
    if mask is None:
        return F.softmax(scores, -1)
    scores = torch.where(mask, scores, torch.full_like(scores, torch.finfo(scores.dtype).min))
    return F.softmax(scores, -1) * mask.to(scores.dtype)


class _Attention(nn.Module):
    def __init__(self, d_model, num_heads, p):
        super().__init__()
        self.n, self.p = num_heads, p
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask):
        q, k, v = (to_heads(proj(x), self.n) for proj in (self.q_proj, self.k_proj, self.v_proj))
        weights = safe_softmax(q @ k.transpose(2, 3) / q.shape[-1] ** 0.5, mask)
        return self.o_proj(from_heads(F.dropout(weights, self.p, self.training) @ v))


class _AddNorm(nn.Module):
    def __init__(self, d_model, p):
        super().__init__()
        self.norm, self.p = nn.LayerNorm(d_model), p

    def forward(self, x, out):
        total = x + out
        return self.norm(F.dropout(total, self.p, self.training))


class _FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, y):
        return self.fc2(F.relu(self.fc1(y)))


class TransformerEncoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model is {d_model}, so num_heads can't be {num_heads}")
        self.attention = _Attention(d_model, num_heads, dropout)
        self.addnorm1 = _AddNorm(d_model, dropout)
        self.ffn = _FFN(d_model, d_ff)
        self.addnorm2 = _AddNorm(d_model, dropout)

    def forward(self, x, mask=None):
        y = self.addnorm1(x, self.attention(x, mask))
        return self.addnorm2(y, self.ffn(y))
