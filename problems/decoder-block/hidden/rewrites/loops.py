"""Style: loops over sequences, heads and queries; each query looks only at the keys it may see, norms by hand."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Drop(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.keep = 1 - p

    def forward(self, x):
        if self.training and self.keep < 1:
            return x * torch.bernoulli(torch.full_like(x, self.keep)) / self.keep
        return x


class Norm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
        return (x - mean) * (variance + 1e-5).rsqrt() * self.weight + self.bias


class TransformerDecoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        d_head, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"num_heads={num_heads} leaves a rest of {rest} features")
        self.chunks = [slice(h * d_head, (h + 1) * d_head) for h in range(num_heads)]
        self.drop = Drop(dropout)
        for name in ("self_attention", "cross_attention"):
            setattr(self, name, nn.ModuleDict({f"{part}_proj": nn.Linear(d_model, d_model) for part in "qkvo"}))
        for name in ("addnorm1", "addnorm2", "addnorm3"):
            setattr(self, name, nn.ModuleDict({"norm": Norm(d_model)}))
        self.ffn = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})

    def forward(self, x, encoder_output, self_mask=None, cross_mask=None):
        if encoder_output.size(2) != self.ffn["fc1"].in_features:
            raise ValueError(f"the encoder gave {encoder_output.size(2)} features")
        own, cross = (
            (x.new_ones((), dtype=torch.bool) if mask is None else mask).expand(
                len(x), len(self.chunks), x.size(1), size
            )
            for mask, size in ((self_mask, x.size(1)), (cross_mask, encoder_output.size(1)))
        )
        return torch.stack([self.one(*given) for given in zip(x, encoder_output, own, cross, strict=True)])

    def one(self, x, memory, own, cross):  # (target_len, d_model), (source_len, d_model), masks (heads, q_len, k_len)
        later = torch.arange(len(x), device=x.device)
        own = own & (later[None, :] <= later[:, None])
        x = self.addnorm1["norm"](x + self.drop(self.attend(self.self_attention, x, x, own)))
        x = self.addnorm2["norm"](x + self.drop(self.attend(self.cross_attention, x, memory, cross)))
        return self.addnorm3["norm"](x + self.drop(self.ffn["fc2"](torch.relu(self.ffn["fc1"](x)))))

    def attend(self, layers, stream, memory, masks):
        heads = []
        for chunk, mask in zip(self.chunks, masks, strict=True):
            q, k, v = (
                F.linear(given, layers[name].weight[chunk], layers[name].bias[chunk])
                for name, given in (("q_proj", stream), ("k_proj", memory), ("v_proj", memory))
            )
            rows = [self.query(row, k[seen], v[seen]) for row, seen in zip(q, mask, strict=True)]
            heads.append(torch.stack(rows))
        return layers["o_proj"](torch.cat(heads, dim=-1))

    def query(self, q, k, v):  # (d_head,), (visible, d_head), (visible, d_head); of nothing the sum is zero
        return self.drop((k @ q / math.sqrt(len(q))).softmax(0)) @ v
