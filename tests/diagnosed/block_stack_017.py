import torch
from torch import nn


class Attn(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, mask):
        q, k, v = (f(x).unflatten(-1, (self.h, -1)).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        s = q @ k.mT / q.shape[-1] ** 0.5
        w = s.softmax(-1) if mask is None else s.masked_fill(~mask, -torch.inf).softmax(-1)
        return self.o_proj((w @ v).transpose(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d, f), nn.Linear(f, d)

    def forward(self, x):
        return self.fc2(nn.functional.gelu(self.fc1(x)))


class Block(nn.Module):
    def __init__(self, d, h, f, pre):
        super().__init__()
        self.pre, self.norm1, self.norm2 = pre, nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention, self.mlp = Attn(d, h), MLP(d, f)

    def forward(self, x, mask):
        if self.pre:
            x = x + self.attention(self.norm1(x), mask)
            return x + self.mlp(self.norm2(x))
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.mlp(x))


class BlockStack(nn.Module):
    def __init__(self, num_blocks, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        if num_blocks < 0 or d_model % num_heads:
            raise ValueError(f"num_blocks {num_blocks} negative, or num_heads {num_heads} doesn't divide {d_model}")
        self.blocks = nn.ModuleList(Block(d_model, num_heads, d_ff, norm_first) for _ in range(num_blocks))
        self.norm = nn.LayerNorm(d_model) if norm_first else None

    def forward(self, x, mask=None, return_stream=False):
        stream = [x]
        for block in self.blocks:
            stream.append(block(stream[-1], mask))
        y = stream[-1] if self.norm is None else self.norm(stream[-1])
        return (y, stream) if return_stream else y
