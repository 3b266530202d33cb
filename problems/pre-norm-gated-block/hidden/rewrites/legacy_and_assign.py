"""A list in torch's older file format, written beside and moved into place; rotation matrices; tensors are assigned."""

import os
import pickle
from pathlib import Path

import torch
from torch import nn


class Matrix(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(rows, columns) / columns**0.5)

    def forward(self, x):
        return x @ self.weight.mT


class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return self.weight * x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()


def rotations(positions, d_head, dtype):
    """(seq_len, d_head, d_head)"""
    half = d_head // 2
    angles = positions.double()[:, None] / 10000.0 ** (
        torch.arange(half, dtype=torch.float64, device=positions.device) / half
    )
    matrix = torch.zeros(len(positions), d_head, d_head, dtype=torch.float64, device=positions.device)
    one = torch.arange(half, device=positions.device)
    matrix[:, one, one] = matrix[:, one + half, one + half] = angles.cos()
    matrix[:, one + half, one] = angles.sin()
    matrix[:, one, one + half] = -angles.sin()
    return matrix.to(dtype)


class Attention(nn.Module):
    def __init__(self, width, heads, drop):
        super().__init__()
        self.heads, self.drop = heads, drop
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (Matrix(width, width) for _ in range(4))

    def forward(self, x, positions, mask):
        matrices = rotations(positions, x.shape[-1] // self.heads, x.dtype)
        q, k, v = (layer(x).unflatten(-1, (self.heads, -1)) for layer in (self.q_proj, self.k_proj, self.v_proj))
        q, k = (torch.einsum("tij,bthj->bthi", matrices, part) for part in (q, k))
        scores = torch.einsum("bqhi,bkhi->bhqk", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            sees = mask.any(-1, keepdim=True)
            scores = scores.masked_fill(~mask & sees, -torch.inf)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = torch.where(sees, weights, 0)
        return self.o_proj(torch.einsum("bhqk,bkhi->bqhi", self.drop(weights), v).flatten(2))


class MLP(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = (
            Matrix(hidden, width),
            Matrix(hidden, width),
            Matrix(width, hidden),
        )

    def forward(self, x):
        gate = self.gate_proj(x)
        return self.down_proj(gate * gate.sigmoid() * self.up_proj(x))


class PreNormGatedBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads={num_heads} does not divide d_model={d_model}")
        if (d_model // num_heads) % 2:
            raise ValueError(f"heads of width {d_model // num_heads} have a feature left over")
        self.made_from = [d_model, num_heads, d_ff, dropout]
        drop = nn.Dropout(dropout)
        self.norm1, self.attention = Scale(d_model), Attention(d_model, num_heads, drop)
        self.norm2, self.mlp = Scale(d_model), MLP(d_model, d_ff)
        self.drop = drop

    def forward(self, x, positions=None, mask=None):
        positions = torch.arange(x.shape[1], device=x.device) if positions is None else positions
        x = x + self.drop(self.attention(self.norm1(x), positions, mask))
        return x + self.drop(self.mlp(self.norm2(x)))


def save_block(block, path):
    path = Path(path)
    beside = path.with_name(path.name + ".partial")
    pairs = [[key, tensor.detach().clone()] for key, tensor in block.named_parameters()]
    torch.save(["gated block", block.made_from, pairs], beside, _use_new_zipfile_serialization=False)
    os.replace(beside, path)


def load_block(path):
    with open(path, "rb") as file:
        try:
            content = torch.load(file, weights_only=True)
        except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError, TypeError, AttributeError) as exc:
            raise ValueError(f"{path} is no checkpoint: {type(exc).__name__}") from exc
        except Exception as exc:
            raise ValueError(f"{path} is no checkpoint") from exc
    try:
        kind, made_from, pairs = content
        if not isinstance(kind, str) or kind != "gated block":
            raise ValueError(kind)
        block = PreNormGatedBlock(*made_from)
        block.load_state_dict(dict(pairs), assign=True)
    except Exception as exc:
        raise ValueError(f"{path} holds no block") from exc
    for parameter in block.parameters():
        parameter.requires_grad_()
    return block.train(False)
