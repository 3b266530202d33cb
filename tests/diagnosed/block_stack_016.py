import torch
import torch.nn.functional as F
from torch import nn


class HeadLoopAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, n, d = x.shape
        width = d // self.num_heads
        tokens = x.view(b * n, d)
        q = self.q_proj(tokens).view(b, n, d)
        k = self.k_proj(tokens).view(b, n, d)
        v = self.v_proj(tokens).view(b, n, d)
        if mask is not None:
            mask = mask.expand(b, self.num_heads, n, n)
        results = []
        for h in range(self.num_heads):
            start, stop = h * width, (h + 1) * width
            scores = q[:, :, start:stop] @ k[:, :, start:stop].transpose(1, 2) * width ** -0.5
            if mask is None:
                weights = scores.softmax(-1)
            else:
                visible = mask[:, h]
                scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
                weights = scores.softmax(-1).masked_fill(~visible, 0.0)
            results.append(weights @ v[:, :, start:stop])
        return self.o_proj(torch.cat(results, dim=-1))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class OneBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.attention = HeadLoopAttention(d_model, num_heads)
        self.mlp = FeedForward(d_model, d_ff)


class BlockStack(nn.Module):
    def __init__(self, num_blocks, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads don't divide {d_model} features")
        if num_blocks < 0:
            raise ValueError(f"a stack can't have {num_blocks} blocks")
        self.norm_first = norm_first
        self.blocks = nn.ModuleList()
        for _ in range(num_blocks):
            self.blocks.append(OneBlock(d_model, num_heads, d_ff))
        if norm_first:
            self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask=None, return_stream=False):
        stream = [x]
        for i in range(len(self.blocks)):
            block = self.blocks[i]
            if self.norm_first:
                x = x + block.attention(block.norm1(x), mask)
                x = x + block.mlp(block.norm2(x))
            else:
                x = block.norm1(x + block.attention(x, mask))
                x = block.norm2(x + block.mlp(x))
            stream.append(x)
        output = self.norm(x) if self.norm_first else x
        return (output, stream) if return_stream else output
