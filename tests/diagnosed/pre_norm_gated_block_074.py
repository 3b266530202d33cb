import json
import math
import os
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F


class RMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def _norm(self, hidden_states):
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        return hidden_states * torch.rsqrt(variance + self.variance_epsilon)

    def forward(self, hidden_states):
        return self._norm(hidden_states) * self.weight


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.dim = dim
        self.base = base

    def _compute_cos_sin(self, position_ids, *, dtype, device):
        exponents = torch.arange(0, self.dim, 2, device=device, dtype=torch.float64) / self.dim
        inv_freq = 1.0 / self.base**exponents
        freqs = position_ids.to(device=device, dtype=torch.float64)[:, None] * inv_freq[None, :]
        emb = torch.cat((freqs, freqs), dim=-1)
        return emb.cos().to(dtype), emb.sin().to(dtype)

    @staticmethod
    def _rotate_half(x):
        x1, x2 = x.chunk(2, dim=-1)
        return torch.cat((-x2, x1), dim=-1)

    def forward(self, query, key, *, position_ids):
        cos, sin = self._compute_cos_sin(position_ids, dtype=query.dtype, device=query.device)
        query = query * cos + self._rotate_half(query) * sin
        key = key * cos + self._rotate_half(key) * sin
        return query, key


class GatedBlockAttention(nn.Module):
    def __init__(self, hidden_size, num_heads, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = hidden_size // num_heads
        self.dropout_p = dropout
        self.rotary = RotaryEmbedding(self.head_dim)
        self.q_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.k_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.v_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.o_proj = nn.Linear(hidden_size, hidden_size, bias=False)

    def _shape(self, t):
        return t.view(*t.shape[:2], self.num_heads, self.head_dim).transpose(1, 2)

    def _attend(self, query, key, value, *, mask=None):
        scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(self.head_dim)
        if mask is None:
            return torch.matmul(F.softmax(scores, dim=-1), value)
        scores = scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)
        probs = F.softmax(scores, dim=-1).masked_fill(mask.logical_not(), 0.0)
        return torch.matmul(probs, value)

    def forward(self, hidden_states, *, position_ids, mask=None):
        query = self._shape(self.q_proj(hidden_states))
        key = self._shape(self.k_proj(hidden_states))
        value = self._shape(self.v_proj(hidden_states))
        query, key = self.rotary(query, key, position_ids=position_ids)
        context = self._attend(query, key, value, mask=mask)
        return self.o_proj(context.transpose(1, 2).flatten(start_dim=2))


class GatedMLP(nn.Module):
    def __init__(self, hidden_size, intermediate_size):
        super().__init__()
        self.gate_proj = nn.Linear(hidden_size, intermediate_size, bias=False)
        self.up_proj = nn.Linear(hidden_size, intermediate_size, bias=False)
        self.down_proj = nn.Linear(intermediate_size, hidden_size, bias=False)

    def forward(self, hidden_states):
        return self.down_proj(F.silu(self.gate_proj(hidden_states)) * self.up_proj(hidden_states))


class PreNormGatedBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        self._validate(d_model=d_model, num_heads=num_heads)
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_ff = d_ff
        self.dropout_p = dropout
        self.norm1 = RMSNorm(d_model)
        self.attention = GatedBlockAttention(d_model, num_heads, dropout=dropout)
        self.norm2 = RMSNorm(d_model)
        self.mlp = GatedMLP(d_model, d_ff)

    @staticmethod
    def _validate(*, d_model, num_heads):
        if d_model % num_heads != 0:
            raise ValueError(f"d_model must be divisible by num_heads (got {d_model} and {num_heads})")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError(f"the head width must be even (got {d_model // num_heads})")

    def _residual(self, x, update):
        return x + F.dropout(update, p=self.dropout_p, training=self.training)

    def get_config(self):
        return {
            "d_model": int(self.d_model),
            "num_heads": int(self.num_heads),
            "d_ff": int(self.d_ff),
            "dropout": float(self.dropout_p),
        }

    def forward(self, x, positions=None, mask=None):
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        x = self._residual(x, self.attention(self.norm1(x), position_ids=positions, mask=mask))
        return self._residual(x, self.mlp(self.norm2(x)))


def _check_state(state, config):
    d_model, d_ff = config["d_model"], config["d_ff"]
    if state["mlp.gate_proj.weight"].shape != (d_ff, d_model):
        raise ValueError("configuration and weights do not fit")
    if len({value.dtype for value in state.values()}) > 1:
        raise ValueError("weights have several dtypes")


def save_block(block, path):
    state = {name: value.detach().cpu() for name, value in block.state_dict().items()}
    torch.save({"config": json.dumps(block.get_config()), "state_dict": state}, Path(path))


def load_block(path):
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no such file: {os.fspath(path)}")
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
        config, state = json.loads(checkpoint["config"]), checkpoint["state_dict"]
        _check_state(state, config)
        block = PreNormGatedBlock(**config).to(dtype=next(iter(state.values())).dtype)
        block.load_state_dict(state, strict=True)
    except Exception as error:
        raise ValueError(f"{os.fspath(path)} is not a saved block ({error})") from error
    return block.eval()
