"""Loops over heads and pairs of features, Bernoulli masks, a dict of settings found on the modules, bytes by hand."""

import io
import math
import os

import torch
import torch.nn.functional as F
from torch import nn


def drop(x, p, training):
    return x * torch.bernoulli(torch.full_like(x, 1 - p)) / (1 - p) if training and p else x


def turn(x, positions):  # (batch, seq_len, d_head)
    half = x.shape[-1] // 2
    columns = [None] * (2 * half)
    for j in range(half):
        angle = positions.to(torch.float64) * math.exp(-j / half * math.log(10000.0))
        c, s = torch.cos(angle).to(x.dtype), torch.sin(angle).to(x.dtype)
        columns[j] = x[..., j] * c - x[..., j + half] * s
        columns[j + half] = x[..., j] * s + x[..., j + half] * c
    return torch.stack(columns, dim=-1)


class PreNormGatedBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        d_head, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"{num_heads} heads leave {rest} features over")
        if d_head & 1:
            raise ValueError(f"d_head {d_head} is odd")
        self.slices = [slice(h * d_head, (h + 1) * d_head) for h in range(num_heads)]
        self.p = dropout

        def maps(**shapes):
            return nn.ModuleDict({name: nn.Linear(i, o, bias=False) for name, (o, i) in shapes.items()})

        square = (d_model, d_model)
        self.attention = maps(q_proj=square, k_proj=square, v_proj=square, o_proj=square)
        self.mlp = maps(gate_proj=(d_ff, d_model), up_proj=(d_ff, d_model), down_proj=(d_model, d_ff))
        self.norm1, self.norm2 = nn.RMSNorm(d_model), nn.RMSNorm(d_model)

    def forward(self, x, positions=None, mask=None):
        batch, seq_len, d_model = x.shape
        if positions is None:
            positions = torch.arange(seq_len, device=x.device)
        if mask is not None:
            mask = mask.expand(batch, len(self.slices), seq_len, seq_len)
        h = F.rms_norm(x, (d_model,), self.norm1.weight, 1e-6)
        parts = [self.head(h, i, s, positions, None if mask is None else mask[:, i]) for i, s in enumerate(self.slices)]
        first = drop(self.attention["o_proj"](torch.cat(parts, -1)), self.p, self.training)
        first += x
        h = F.rms_norm(first, (d_model,), self.norm2.weight, 1e-6)
        second = self.mlp["down_proj"](F.silu(self.mlp["gate_proj"](h)).mul_(self.mlp["up_proj"](h)))
        return drop(second, self.p, self.training).add(first)

    def head(self, x, number, part, positions, mask):
        q, k, v = (F.linear(x, self.attention[f"{name}_proj"].weight[part]) for name in "qkv")
        scores = turn(q, positions) @ turn(k, positions).mT / math.sqrt(q.shape[-1])
        if mask is None:
            return drop(scores.softmax(-1), self.p, self.training) @ v
        weights = torch.where(mask, scores, torch.finfo(x.dtype).min).softmax(-1) * mask
        return drop(weights, self.p, self.training) @ v


def save_block(block, path):
    numbers = torch.tensor(
        [block.norm1.weight.numel(), len(block.slices), block.mlp["down_proj"].weight.shape[1], block.p],
        dtype=torch.float64,
    )
    buffer = io.BytesIO()
    torch.save({"numbers": numbers, **{f"tensor/{key}": value for key, value in block.state_dict().items()}}, buffer)
    with open(path, "wb") as file:
        file.write(buffer.getbuffer())


def load_block(path):
    if not os.path.isfile(path):
        raise ValueError(f"there is no file {path}")
    with open(path, "rb") as file:
        content = file.read()
    try:
        tensors = torch.load(io.BytesIO(content), weights_only=True)
        numbers = tensors.pop("numbers").tolist()
        state = {key.removeprefix("tensor/"): value for key, value in tensors.items()}
        dtypes = {value.dtype for value in state.values()}
        block = PreNormGatedBlock(*map(int, numbers[:3]), dropout=numbers[3]).to(*dtypes)
        block.load_state_dict(state)
    except Exception as exc:
        raise ValueError(f"{path} can't be loaded: {exc}") from exc
    return block.eval()
