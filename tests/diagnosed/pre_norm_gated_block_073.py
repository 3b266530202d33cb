import os

import torch
import torch.nn.functional as F
from torch import nn


def turn(x, positions):
    d = x.shape[-1]
    freq = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d)
    angle = positions.to(x.device).double().outer(freq)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


class Attention(nn.Module):
    def __init__(self, d, heads, p):
        super().__init__()
        self.heads, self.drop = heads, nn.Dropout(p)
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x, positions, mask):
        projections = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in projections)
        scores = turn(q, positions) @ k.mT * q.shape[-1] ** -0.5
        if mask is None:
            w = scores.softmax(-1)
        else:
            w = scores.masked_fill(~mask, torch.finfo(x.dtype).min).softmax(-1).masked_fill(~mask, 0)
        return self.o_proj((self.drop(w) @ v).transpose(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self, d, d_ff):
        super().__init__()
        self.gate_proj, self.up_proj = nn.Linear(d, d_ff, bias=False), nn.Linear(d, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class PreNormGatedBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % (2 * num_heads):
            raise ValueError(f"{num_heads} heads of an even width do not fit into {d_model}")
        self.config = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff, "dropout": dropout}
        self.norm1, self.norm2 = nn.RMSNorm(d_model, eps=1e-6), nn.RMSNorm(d_model, eps=1e-6)
        self.attention, self.mlp = Attention(d_model, num_heads, dropout), MLP(d_model, d_ff)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, positions=None, mask=None):
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        x = x + self.drop(self.attention(self.norm1(x), positions, mask))
        return x + self.drop(self.mlp(self.norm2(x)))


def save_block(block, path):
    torch.save({"config": dict(block.config), "state": block.state_dict()}, os.fspath(path))


def load_block(path):
    try:
        saved = torch.load(os.fspath(path), map_location="cpu", weights_only=True)
        c, state = saved["config"], saved["state"]
        with torch.device("meta"):
            block = PreNormGatedBlock(c["d_model"], c["num_heads"], c["d_ff"], c["dropout"])
        block.load_state_dict(state, assign=True)
        return block.eval().requires_grad_()
    except FileNotFoundError:
        raise
    except Exception as e:
        raise ValueError(f"no saved block in {path}: {e}") from e
