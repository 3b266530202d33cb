"""One loop over sublayers, sequence first inside: the order decides which of two norms each step applies."""

import torch
from torch import nn
from torch.nn import functional as F


def attention(layer, x, mask, heads):  # (seq_len, batch, d_model)
    t, b, d = x.shape
    q, k, v = (
        getattr(layer, name)(x).reshape(t, b * heads, d // heads).transpose(0, 1)
        for name in ("q_proj", "k_proj", "v_proj")
    )
    bias = x.new_zeros(b * heads, t, t)
    sees = None
    if mask is not None:
        mask = mask.expand(b, heads, t, t).reshape(b * heads, t, t)
        sees = mask.any(-1, keepdim=True)
        bias = bias.masked_fill(~mask & sees, -torch.inf)
    weights = F.softmax(torch.baddbmm(bias, q, k.mT, alpha=(d // heads) ** -0.5), -1)
    if sees is not None:
        weights = torch.where(sees, weights, 0)
    return layer.o_proj(torch.bmm(weights, v).transpose(0, 1).reshape(t, b, d))


def block(d_model, d_ff):
    layer, names = nn.Module(), ("q_proj", "k_proj", "v_proj", "o_proj")
    layer.norm1, layer.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
    layer.attention = nn.ModuleDict({name: nn.Linear(d_model, d_model) for name in names})
    layer.mlp = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})
    return layer


class BlockStack(nn.Module):
    def __init__(self, num_blocks, d_model, num_heads, d_ff, norm_first=True, **options):
        super().__init__()
        self.options = options
        if d_model // num_heads * num_heads != d_model:
            raise ValueError(f"{num_heads} heads do not share {d_model} features")
        if num_blocks <= -1:
            raise ValueError(f"{num_blocks} blocks")
        self.heads, self.norm_first = num_heads, norm_first
        self.blocks = nn.ModuleList(block(d_model, d_ff) for _ in range(num_blocks))
        if norm_first:
            self.norm = nn.LayerNorm(d_model)

    def sublayers(self, mask):
        for layer in self.blocks:
            yield layer.norm1, lambda h, layer=layer: attention(layer.attention, h, mask, self.heads), False
            yield layer.norm2, lambda h, layer=layer: layer.mlp.fc2(F.gelu(layer.mlp.fc1(h))), True

    def forward(self, x, mask=None, return_stream=False):
        stream = [x]
        x = x.transpose(0, 1)
        for norm, sublayer, last in self.sublayers(mask):
            before, after = (norm, nn.Identity()) if self.norm_first else (nn.Identity(), norm)
            added = sublayer(before(x))
            added += x  # a sum in its own temporary
            x = after(added)
            if last:
                stream.append(x.transpose(0, 1))
        x = x.transpose(0, 1)
        if self.norm_first:
            x = self.norm(x)
        return (x, stream) if return_stream else x
