import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def one_head(self, q, k, v, visible):
        scores = torch.matmul(q, k.transpose(-1, -2)) / q.shape[-1] ** 0.5
        if visible is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            lowest = torch.finfo(scores.dtype).min
            weights = torch.softmax(torch.where(visible, scores, lowest), dim=-1)
            weights = torch.where(visible, weights, 0.0)
        return torch.matmul(self.dropout(weights), v)

    def mask_of_head(self, mask, head):
        if mask is None or mask.dim() == 2:
            return mask
        return mask[:, head if mask.shape[1] > 1 else 0]

    def forward(self, x, mask):
        q = torch.tensor_split(self.q_proj(x), self.num_heads, dim=2)
        k = torch.tensor_split(self.k_proj(x), self.num_heads, dim=2)
        v = torch.tensor_split(self.v_proj(x), self.num_heads, dim=2)
        results = []
        for head in range(self.num_heads):
            results.append(self.one_head(q[head], k[head], v[head], self.mask_of_head(mask, head)))
        return self.o_proj(torch.cat(results, dim=2))


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, output):
        output = self.dropout(output)
        return self.norm(x + output)


class FFN(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, y):
        hidden = torch.relu(self.fc1(y))
        hidden = self.dropout(hidden)
        return self.fc2(hidden)


class TransformerEncoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} is not a possible num_heads for d_model {d_model}")
        self.attention = Attention(d_model, num_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.ffn = FFN(d_model, d_ff, dropout)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x, mask=None):
        attended = self.attention(x, mask)
        y = self.addnorm1(x, attended)
        transformed = self.ffn(y)
        return self.addnorm2(y, transformed)
