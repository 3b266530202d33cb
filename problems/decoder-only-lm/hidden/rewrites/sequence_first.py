"""Sequence first inside and a transposed view as result; in-place work on its own temporaries; a lazily grown mask."""

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.num_heads, self.dropout, self.last_weights = num_heads, dropout, None

    def forward(self, x, mask):  # (seq_len, batch, d_model)
        t, b, d = x.shape
        # (seq_len, batch * heads, d_head) to (batch * heads, seq_len, d_head), batch-major
        q, k, v = (
            layer(x).contiguous().view(t, b * self.num_heads, d // self.num_heads).transpose(0, 1)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        scores = torch.bmm(q, k.transpose(1, 2)).mul_((d // self.num_heads) ** -0.5)
        weights = F.softmax(scores.masked_fill_(mask, torch.finfo(x.dtype).min), dim=2)
        self.last_weights = weights.detach()
        heads = F.dropout(weights, p=self.dropout, training=self.training) @ v
        return self.o_proj(heads.transpose(0, 1).reshape(t, b, d))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout, inplace=True)

    def forward(self, x):
        return self.dropout(self.fc2(self.dropout(F.gelu(self.fc1(x)))))


class DecoderOnlyLM(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        if d_model // num_heads * num_heads != d_model:
            raise ValueError(f"num_heads={num_heads}, d_model={d_model}")
        if num_blocks < 0:
            raise ValueError(f"num_blocks={num_blocks}")
        self.max_len, self.future = max_len, torch.ones(0, 0, dtype=torch.bool)
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_blocks):
            block = nn.ModuleDict({"norm1": nn.LayerNorm(d_model), "norm2": nn.LayerNorm(d_model)})
            block["attention"] = Attention(d_model, num_heads, dropout)
            block["mlp"] = FeedForward(d_model, d_ff, dropout)
            self.blocks.append(block)
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.tokens.weight
        self.drop = nn.Dropout(dropout)

    def mask(self, t, device):
        """A memo that no caller can notice: the triangle of the longest sequence so far."""
        if len(self.future) < t or self.future.device != device:
            self.future = torch.ones(t, t, dtype=torch.bool, device=device).triu_(1)
        return self.future[:t, :t]

    def forward(self, ids, offset=0):
        t = ids.shape[-1]
        if min(offset, self.max_len - offset - t) < 0:
            raise ValueError(f"{t} tokens at offset {offset} do not fit into {self.max_len} positions")
        places = torch.arange(t, device=ids.device).add_(offset)[:, None]
        stream = self.drop(self.tokens(ids.T).add_(self.positions(places)))
        for block in self.blocks:
            stream = stream + block["attention"](block["norm1"](stream), self.mask(t, ids.device))
            stream = stream + block["mlp"](block["norm2"](stream))
        return self.head(self.norm(stream)).transpose(0, 1)
