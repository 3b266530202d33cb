import math

import torch
from torch import nn


def apply_linear(layer, x):
    return torch.matmul(x, layer.weight.t()) + layer.bias


class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask):
        batch, seq_len, d_model = x.shape
        q = apply_linear(self.q_proj, x).reshape(batch, seq_len, self.num_heads, self.d_head).permute(0, 2, 1, 3)
        k = apply_linear(self.k_proj, x).reshape(batch, seq_len, self.num_heads, self.d_head).permute(0, 2, 3, 1)
        v = apply_linear(self.v_proj, x).reshape(batch, seq_len, self.num_heads, self.d_head).permute(0, 2, 1, 3)
        scores = torch.matmul(q, k) / math.sqrt(self.d_head)
        if mask is not None:
            penalty = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
            penalty = penalty.masked_fill(~mask, float("-inf"))
            scores = scores + penalty
        weights = torch.softmax(scores, dim=-1)
        weights = torch.nan_to_num(weights, nan=0.0)
        heads = torch.matmul(weights, v)
        merged = heads.permute(0, 2, 1, 3).reshape(batch, seq_len, d_model)
        return apply_linear(self.o_proj, merged)


class Mlp(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        z = apply_linear(self.fc1, x)
        z = 0.5 * z * (1 + torch.erf(z / math.sqrt(2.0)))
        return apply_linear(self.fc2, z)


class Layer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first):
        super().__init__()
        self.norm_first = norm_first
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = Mlp(d_model, d_ff)

    def forward(self, x, mask):
        if self.norm_first:
            x = x + self.attention(self.norm1(x), mask)
            x = x + self.mlp(self.norm2(x))
        else:
            x = self.norm1(x + self.attention(x, mask))
            x = self.norm2(x + self.mlp(x))
        return x


class BlockStack(nn.Module):
    def __init__(self, num_blocks, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        if num_blocks < 0:
            raise ValueError(f"num_blocks must not be negative: {num_blocks}")
        if d_model % num_heads != 0:
            raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}")
        self.norm_first = norm_first
        self.blocks = nn.ModuleList([Layer(d_model, num_heads, d_ff, norm_first) for _ in range(num_blocks)])
        if norm_first:
            self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask=None, return_stream=False):
        stream = [x]
        for block in self.blocks:
            stream.append(block(stream[-1], mask))
        output = stream[-1]
        if self.norm_first:
            output = self.norm(output)
        if return_stream:
            return output, stream
        return output
