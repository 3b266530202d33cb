"""Style: a loop over the heads, all layers by hand, softmax from exponentials, dropout by a drawn mask."""

import torch
from torch import nn

MOVED_LINES = ["L4", "L8", "L4"]
REWIRED_LINES = ["L1", "L5"]


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = (centred * centred).mean(dim=-1, keepdim=True)
        return centred / (variance + 1e-5) ** 0.5 * self.weight + self.bias


class Linear(nn.Module):
    def __init__(self, into, out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out, into) / into**0.5)
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, x):
        return torch.einsum("bti,oi->bto", x, self.weight) + self.bias


class Attention(nn.Module):
    def __init__(self, width, num_heads):
        super().__init__()
        self.num_heads = num_heads
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, Linear(width, width))

    def forward(self, x, mask):
        queries, keys, values = (
            linear(x).chunk(self.num_heads, -1) for linear in (self.q_proj, self.k_proj, self.v_proj)
        )
        heads = []
        for head in range(self.num_heads):
            scores = torch.einsum("bqd,bkd->bqk", queries[head], keys[head]) * queries[head].shape[-1] ** -0.5
            weights = self.softmax(scores, self.of_head(mask, head))
            heads.append(torch.einsum("bqk,bkd->bqd", weights, values[head]))
        return self.o_proj(torch.cat(heads, dim=-1))

    @staticmethod
    def of_head(mask, head):
        if mask is None or mask.dim() == 2:
            return mask
        return mask[:, head if mask.shape[1] > 1 else 0]

    @staticmethod
    def softmax(scores, mask):
        if mask is None:
            mask = torch.ones_like(scores, dtype=torch.bool)
        allowed = mask.to(scores.dtype)
        largest = (scores - (1 - allowed) * 1e6).amax(dim=-1, keepdim=True).detach()
        raised = torch.exp(torch.where(mask, scores - largest, torch.zeros_like(scores))) * allowed
        total = raised.sum(dim=-1, keepdim=True)
        return raised / torch.where(total > 0, total, torch.ones_like(total))


class MLP(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.fc1 = Linear(width, hidden)
        self.fc2 = Linear(hidden, width)

    def forward(self, x):
        hidden = self.fc1(x)
        return self.fc2(hidden * (hidden > 0))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        if d_model % num_heads:
            raise ValueError(f"cannot share {d_model} features among {num_heads} heads")
        super().__init__()
        self.probability = dropout
        self.norm1 = Norm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.norm2 = Norm(d_model)
        self.mlp = MLP(d_model, d_ff)

    def drop(self, branch):
        if not self.training:
            return branch
        keep = torch.rand_like(branch) >= self.probability
        return branch * keep / (1 - self.probability)

    def forward(self, x, mask=None):
        x = x + self.drop(self.attention(self.norm1(x), mask))
        return x + self.drop(self.mlp(self.norm2(x)))
