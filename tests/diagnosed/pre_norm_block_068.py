import torch
from torch import nn


class PreNormBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads={num_heads} does not divide d_model={d_model}")
        self.num_heads = num_heads
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = nn.ModuleDict({f"{n}_proj": nn.Linear(d_model, d_model) for n in "qkvo"})
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})
        self.drop = nn.Dropout(dropout)

    def attend(self, x, mask):
        q, k, v = (
            self.attention[f"{n}_proj"](x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for n in "qkv"
        )
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~mask, torch.finfo(x.dtype).min)
        weights = self.drop(scores.softmax(-1).masked_fill(~mask, 0))
        return self.attention["o_proj"]((weights @ v).transpose(1, 2).flatten(2))

    def forward(self, x, mask=None):
        if mask is None:
            mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device="cpu")
        x = x + self.attend(self.norm1(x), mask)
        h = self.drop(nn.functional.gelu(self.mlp["fc1"](self.norm2(x))))
        return x + self.drop(self.mlp["fc2"](h))
