"""A safetensors file with the configuration in its header, complex numbers for positions, fused attention."""

import json
import os

import torch
import torch.nn.functional as F
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn


class FileError(ValueError):
    """A file that holds no block."""


class PreNormGatedBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, *, eps=1e-6, base=10000.0):
        super().__init__()
        if d_model % num_heads or d_model // num_heads % 2:
            raise ValueError(f"{num_heads} heads for {d_model} features: a head needs an even number of them")
        self.heads, self.p, self.base = num_heads, dropout, base
        self.settings = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff, "dropout": dropout}
        self.norm1, self.norm2 = nn.RMSNorm(d_model, eps=eps), nn.RMSNorm(d_model, eps=eps)
        self.attention, self.mlp = nn.Module(), nn.Module()
        for name in "qkvo":
            self.attention.add_module(f"{name}_proj", nn.Linear(d_model, d_model, bias=False))
        self.mlp.gate_proj, self.mlp.up_proj = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
        self.mlp.down_proj = nn.Linear(d_ff, d_model, bias=False)

    def turned(self, x, positions):
        half = x.shape[-1] // 2
        steps = torch.arange(half, dtype=torch.float64, device=x.device)
        angles = torch.outer(positions.double(), self.base ** (-steps / half))
        points = torch.complex(x[..., :half].double(), x[..., half:].double())
        points = points * torch.polar(torch.ones_like(angles), angles)
        return torch.cat((points.real, points.imag), -1).to(x.dtype)

    def forward(self, x, positions=None, mask=None, **ignored):
        if positions is None:
            positions = torch.arange(x.size(1), device=x.device)
        p = self.p if self.training else 0.0
        h, a = self.norm1(x), self.attention
        q, k, v = (f(h).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (a.q_proj, a.k_proj, a.v_proj))
        q, k = self.turned(q, positions), self.turned(k, positions)
        h = F.scaled_dot_product_attention(q, k, v, mask, p).transpose(1, 2).flatten(2)
        x = x + F.dropout(a.o_proj(h), p)
        h = self.norm2(x)
        return x + F.dropout(self.mlp.down_proj(F.silu(self.mlp.gate_proj(h)) * self.mlp.up_proj(h)), p)


def save_block(block, path):
    state = {key: tensor.contiguous() for key, tensor in block.state_dict().items()}
    save_file(state, os.fspath(path), metadata={"format": "pt", "block": json.dumps(block.settings)})


def load_block(path):
    try:
        with safe_open(os.fspath(path), framework="pt", device="cpu") as file:
            settings = json.loads((file.metadata() or {}).get("block", "null"))
            state = {key: file.get_tensor(key) for key in list(file.keys())}
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError, json.JSONDecodeError) as exc:
        raise FileError(f"{path}: {exc}") from exc
    if settings is None:
        raise FileError(f"{path}: tensors without a configuration")
    try:
        block = PreNormGatedBlock(**settings)
        block.load_state_dict(state, assign=True)
    except (TypeError, RuntimeError) as exc:
        raise FileError(f"{path}: {exc}") from exc
    return block.requires_grad_().eval()
