import torch
from torch import nn
from torch.nn import functional as F


def projections(d_model):
    return nn.ModuleDict({f"{letter}_proj": nn.Linear(d_model, d_model) for letter in "qkvo"})


def split(t, num_heads):
    return t.unflatten(-1, (num_heads, t.shape[-1] // num_heads)).movedim(-2, 1)


def merge(t):
    return t.movedim(1, -2).flatten(-2)


def masked_softmax(scores, mask):
    if mask is None:
        return F.softmax(scores, dim=-1)
    hidden = ~mask
    weights = F.softmax(scores.masked_fill(hidden, torch.finfo(scores.dtype).min), dim=-1)
    return weights.masked_fill(hidden, 0.0)


def attend(p, queries_from, keys_from, num_heads, mask, drop):
    q = split(p["q_proj"](queries_from), num_heads)
    k = split(p["k_proj"](keys_from), num_heads)
    v = split(p["v_proj"](keys_from), num_heads)
    weights = masked_softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, mask)
    return p["o_proj"](merge(drop(weights) @ v))


def causal(n, device):
    return torch.ones(n, n, dtype=torch.bool, device=device).tril()


class TransformerDecoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads={num_heads} is no divisor of d_model={d_model}")
        self.d_model, self.num_heads, self.p = d_model, num_heads, dropout
        self.self_attention = projections(d_model)
        self.cross_attention = projections(d_model)
        self.ffn = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})
        self.addnorm1 = nn.ModuleDict({"norm": nn.LayerNorm(d_model)})
        self.addnorm2 = nn.ModuleDict({"norm": nn.LayerNorm(d_model)})
        self.addnorm3 = nn.ModuleDict({"norm": nn.LayerNorm(d_model)})

    def drop(self, t):
        return F.dropout(t, self.p, self.training)

    def add_and_norm(self, which, x, output):
        return which["norm"](x + self.drop(output))

    def forward(self, x, encoder_output, self_mask=None, cross_mask=None):
        if encoder_output.shape[-1] != self.d_model:
            raise ValueError(f"width {encoder_output.shape[-1]} of encoder_output is not {self.d_model}")
        mask = causal(x.shape[1], x.device)
        mask = mask if self_mask is None else mask & self_mask
        attended = attend(self.self_attention, x, x, self.num_heads, mask, self.drop)
        y = self.add_and_norm(self.addnorm1, x, attended)
        crossed = attend(self.cross_attention, y, y, self.num_heads, cross_mask, self.drop)
        z = self.add_and_norm(self.addnorm2, y, crossed)
        return self.add_and_norm(self.addnorm3, z, self.ffn["fc2"](F.relu(self.ffn["fc1"](z))))
