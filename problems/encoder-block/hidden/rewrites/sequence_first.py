"""Style: sequence first inside, sums and softmax in place on its own temporaries, a transposed view as result."""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.num_heads, self.drop, self.last_weights = num_heads, nn.Dropout(dropout), None

    def forward(self, x, mask):  # (seq_len, batch, d_model)
        t, b, d = x.shape
        q, k, v = (
            layer(x).reshape(t, b * self.num_heads, d // self.num_heads).transpose(0, 1)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        scores = torch.bmm(q, k.mT).div_((d // self.num_heads) ** 0.5)  # (batch * heads, q_len, k_len)
        blind = None
        if mask is not None:
            hidden = ~mask.expand(b, self.num_heads, t, t).flatten(0, 1)
            blind = hidden.all(-1, keepdim=True)
            scores.masked_fill_(hidden & ~blind, float("-inf"))
        weights = scores.sub_(scores.detach().amax(-1, keepdim=True)).exp()
        weights = weights / weights.sum(-1, keepdim=True)
        if blind is not None:
            weights = weights.masked_fill(blind, 0)
        self.last_weights = weights.detach().view(b, self.num_heads, t, t)
        return self.o_proj(torch.bmm(self.drop(weights), v).transpose(0, 1).reshape(t, b, d))


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout, eps):
        super().__init__()
        self.drop, self.norm = nn.Dropout(dropout, inplace=True), nn.LayerNorm((d_model,), eps)

    def forward(self, x, output):
        output = self.drop(output)
        output += x
        return self.norm(output)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.fc2(self.fc1(x).clamp_(min=0))


class TransformerEncoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0, *, eps=1e-5, name="block"):
        super().__init__()
        if d_model // num_heads * num_heads < d_model:
            raise ValueError(f"{d_model} features can't be shared by {num_heads} heads")
        self.name, self.attention, self.ffn = name, Attention(d_model, num_heads, dropout), FeedForward(d_model, d_ff)
        self.addnorm1, self.addnorm2 = AddNorm(d_model, dropout, eps), AddNorm(d_model, dropout, eps)

    def forward(self, x, mask=None, need_weights=False):
        stream = x.transpose(0, 1)
        stream = self.addnorm1(stream, self.attention(stream, mask))
        output = self.addnorm2(stream, self.ffn(stream)).transpose(0, 1)
        return (output, self.attention.last_weights) if need_weights else output
