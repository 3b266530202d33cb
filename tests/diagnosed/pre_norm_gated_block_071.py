import math
import os

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        squares = x * x
        mean_square = squares.mean(dim=-1, keepdim=True)
        root = torch.sqrt(mean_square + 1e-6)
        normed = x / root
        return normed * self.weight


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, d_model, bias=False)
        self.v_proj = nn.Linear(d_model, d_model, bias=False)
        self.o_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def rotate(self, x, positions):
        half = self.d_head // 2
        j = torch.arange(half, dtype=torch.float64, device=x.device)
        exponent = -2.0 * j / self.d_head
        frequencies = 10000.0**exponent
        positions = positions.to(device=x.device, dtype=torch.float64)
        angles = positions.unsqueeze(1) * frequencies.unsqueeze(0)
        cos = torch.cos(angles).to(x.dtype)
        sin = torch.sin(angles).to(x.dtype)
        first = x[..., :half]
        second = x[..., half:]
        new_first = first * cos - second * sin
        new_second = first * sin + second * cos
        return torch.cat([new_first, new_second], dim=-1)

    def forward(self, x, positions, mask):
        batch, seq_len, d_model = x.shape

        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        q = q.reshape(batch, seq_len, self.num_heads, self.d_head).transpose(1, 2)
        k = k.reshape(batch, seq_len, self.num_heads, self.d_head).transpose(1, 2)
        v = v.reshape(batch, seq_len, self.num_heads, self.d_head).transpose(1, 2)

        q = self.rotate(q, positions)
        k = self.rotate(k, positions)

        scores = q @ k.transpose(-2, -1)
        scores = scores / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        weights = self.dropout(weights)

        out = weights @ v
        out = out.transpose(1, 2)
        out = out.reshape(batch, seq_len, d_model)
        return self.o_proj(out)


class GatedMLP(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)
        self.silu = nn.SiLU()

    def forward(self, x):
        gate = self.gate_proj(x)
        gate = self.silu(gate)
        up = self.up_proj(x)
        hidden = gate * up
        return self.down_proj(hidden)


class PreNormGatedBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}")
        d_head = d_model // num_heads
        if d_head % 2 != 0:
            raise ValueError(f"d_head {d_head} is odd")
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_ff = d_ff
        self.dropout_rate = dropout
        self.norm1 = RMSNorm(d_model)
        self.attention = Attention(d_model, num_heads, dropout)
        self.norm2 = RMSNorm(d_model)
        self.mlp = GatedMLP(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, positions=None, mask=None):
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        h = self.norm1(x)
        h = self.attention(h, positions, mask)
        h = self.dropout(h)
        x = x + h
        h = self.norm2(x)
        h = self.mlp(h)
        h = self.dropout(h)
        x = x + h
        return x


def save_block(block, path):
    config = {
        "d_model": int(block.d_model),
        "num_heads": int(block.num_heads),
        "d_ff": int(block.d_ff),
        "dropout": float(block.dropout_rate),
    }
    weights = {}
    for name, tensor in block.state_dict().items():
        weights[name] = tensor.detach().cpu().clone()
    content = {"config": config, "weights": weights}
    with open(os.fspath(path), "wb") as file:
        torch.save(content, file)


def load_block(path):
    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(path)
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        config = content["config"]
        weights = content["weights"]
        dtypes = {tensor.dtype for tensor in weights.values()}
        if len(dtypes) != 1:
            raise ValueError("weights of more than one dtype")
        if weights["norm1.weight"].shape != (config["d_model"],):
            raise ValueError("weights of another size")
        if weights["mlp.up_proj.weight"].shape != (config["d_ff"], config["d_model"]):
            raise ValueError("weights of another size")
        block = PreNormGatedBlock(config["d_model"], config["num_heads"], config["d_ff"], config["dropout"])
        block = block.to(dtypes.pop())
        block.load_state_dict(weights, strict=True)
    except Exception as error:
        raise ValueError(f"{path} holds no saved block: {error}") from error
    block.eval()
    return block
