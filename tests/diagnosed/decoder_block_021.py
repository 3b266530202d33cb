import math

import torch
from torch import nn


class LoopedAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.weight_dropout = nn.Dropout(dropout)

    def forward(self, stream, source, mask=None):
        batch, n_queries, _ = stream.shape
        n_keys = source.shape[1]
        if mask is None:
            mask = torch.ones(1, 1, dtype=torch.bool, device=stream.device)
        mask = mask.expand(batch, self.num_heads, n_queries, n_keys)
        q, k, v = self.q_proj(stream), self.k_proj(source), self.v_proj(source)
        outputs = []
        for head in range(self.num_heads):
            part = slice(head * self.d_head, (head + 1) * self.d_head)
            allowed = mask[:, head]
            scores = torch.bmm(q[..., part], k[..., part].transpose(1, 2)) / math.sqrt(self.d_head)
            scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
            weights = torch.softmax(scores, dim=2) * allowed.to(scores.dtype)
            outputs.append(torch.bmm(self.weight_dropout(weights), v[..., part]))
        result = self.o_proj(torch.cat(outputs, dim=2))
        sees_something = mask.any(dim=3).any(dim=1)
        return result.masked_fill(~sees_something.unsqueeze(2), 0.0)


class AddAndNorm(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, output):
        return self.norm(x + self.dropout(output))


class PositionWise(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, z):
        return self.fc2(torch.relu(self.fc1(z)))


class TransformerDecoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads is {num_heads}, which does not divide d_model, {d_model}")
        self.d_model = d_model
        self.self_attention = LoopedAttention(d_model, num_heads, dropout)
        self.addnorm1 = AddAndNorm(d_model, dropout)
        self.cross_attention = LoopedAttention(d_model, num_heads, dropout)
        self.addnorm2 = AddAndNorm(d_model, dropout)
        self.ffn = PositionWise(d_model, d_ff)
        self.addnorm3 = AddAndNorm(d_model, dropout)

    def forward(self, x, encoder_output, self_mask=None, cross_mask=None):
        width = encoder_output.shape[2]
        if width != self.d_model:
            raise ValueError(f"encoder_output has width {width} instead of {self.d_model}")
        length = x.shape[1]
        look_back = torch.zeros(length, length, dtype=torch.bool, device=x.device)
        for i in range(length):
            look_back[i, : i + 1] = True
        if self_mask is not None:
            look_back = look_back & self_mask
        y = self.addnorm1(x, self.self_attention(x, x, look_back))
        z = self.addnorm2(y, self.cross_attention(y, encoder_output, cross_mask))
        return self.addnorm3(z, self.ffn(z))
