import os
import pickle
import tempfile

import torch
from torch import nn

_KIND = "pre-norm gated block, version 1"


class _Scale(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))


class _Matrix(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(rows, columns) / columns**0.5)


class _Matrices(nn.Module):
    def __init__(self, **shapes):
        super().__init__()
        for name, (rows, columns) in shapes.items():
            self.add_module(name, _Matrix(rows, columns))


class PreNormGatedBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        if (d_model // num_heads) % 2 == 1:
            raise ValueError(f"d_head is {d_model // num_heads}, but has to be even")
        if not 0.0 <= dropout <= 1.0:
            raise ValueError(f"dropout {dropout} is no probability")
        self.d_model, self.num_heads, self.d_ff, self.p = d_model, num_heads, d_ff, dropout
        square = (d_model, d_model)
        self.norm1 = _Scale(d_model)
        self.attention = _Matrices(q_proj=square, k_proj=square, v_proj=square, o_proj=square)
        self.norm2 = _Scale(d_model)
        self.mlp = _Matrices(gate_proj=(d_ff, d_model), up_proj=(d_ff, d_model), down_proj=(d_model, d_ff))

    def _drop(self, t):
        return nn.functional.dropout(t, self.p, training=self.training)

    @staticmethod
    def _normalize(t, weight):
        mean_square = torch.sum(t * t, dim=1, keepdim=True) / t.shape[1]
        return t * torch.rsqrt(mean_square + 1e-6) * weight

    def forward(self, x, positions=None, mask=None):
        batch, seq_len, d_model = x.shape
        heads = self.num_heads
        d_head = d_model // heads
        half = d_head // 2

        # cosines and sines, (seq_len, half)
        if positions is None:
            positions = torch.arange(seq_len)
        place = positions.to(x.device).double().reshape(seq_len, 1)
        index = torch.arange(half, device=x.device).double().reshape(1, half)
        angle = torch.matmul(place, 10000.0 ** (-2 * index / d_head))
        cos = torch.cos(angle).to(x.dtype).reshape(1, seq_len, 1, half)
        sin = torch.sin(angle).to(x.dtype).reshape(1, seq_len, 1, half)

        tokens = x.view(batch * seq_len, d_model)

        # attention
        h = self._normalize(tokens, self.norm1.weight)
        q = torch.matmul(h, self.attention.q_proj.weight.t()).reshape(batch, seq_len, heads, d_head)
        k = torch.matmul(h, self.attention.k_proj.weight.t()).reshape(batch, seq_len, heads, d_head)
        v = torch.matmul(h, self.attention.v_proj.weight.t()).reshape(batch, seq_len, heads, d_head)
        q1, q2 = q[:, :, :, :half], q[:, :, :, half:]
        k1, k2 = k[:, :, :, :half], k[:, :, :, half:]
        q = torch.cat((q1 * cos - q2 * sin, q1 * sin + q2 * cos), dim=3)
        k = torch.cat((k1 * cos - k2 * sin, k1 * sin + k2 * cos), dim=3)
        q = q.permute(0, 2, 1, 3)
        k = k.permute(0, 2, 3, 1)
        v = v.permute(0, 2, 1, 3)
        scores = torch.matmul(q, k) / d_head**0.5
        if mask is None:
            weights = torch.softmax(scores, dim=3)
        else:
            weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=3)
            weights = weights.masked_fill(~mask, 0)
        weights = self._drop(weights)
        mixed = torch.matmul(weights, v).permute(0, 2, 1, 3).reshape(batch * seq_len, d_model)
        tokens = tokens + self._drop(torch.matmul(mixed, self.attention.o_proj.weight.t()))

        # gated MLP
        h = self._normalize(tokens, self.norm2.weight)
        gate = torch.matmul(h, self.mlp.gate_proj.weight.t())
        up = torch.matmul(h, self.mlp.up_proj.weight.t())
        hidden = gate * torch.sigmoid(gate) * up
        tokens = tokens + self._drop(torch.matmul(hidden, self.mlp.down_proj.weight.t()))

        return tokens.reshape(batch, seq_len, d_model)


def save_block(block, path):
    path = os.fspath(path)
    data = {
        "kind": _KIND,
        "sizes": [block.d_model, block.num_heads, block.d_ff],
        "dropout": float(block.p),
        "tensors": {key: value.detach().to("cpu", copy=True) for key, value in block.state_dict().items()},
    }
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)))
    try:
        with os.fdopen(handle, "wb") as stream:
            torch.save(data, stream)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def load_block(path):
    with open(os.fspath(path), "rb") as stream:
        try:
            data = torch.load(stream, map_location="cpu", weights_only=True)
        except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError, OSError, TypeError) as error:
            raise ValueError(f"{path} can't be read") from error
        except Exception as error:
            raise ValueError(f"{path} can't be read at all") from error

    if not isinstance(data, dict) or data.get("kind") != _KIND:
        raise ValueError(f"{path} holds no saved block")
    sizes, dropout, tensors = data.get("sizes"), data.get("dropout"), data.get("tensors")
    if not isinstance(sizes, list) or len(sizes) != 3 or not all(type(n) is int and n > 0 for n in sizes):
        raise ValueError(f"{path}: sizes {sizes}")
    if not isinstance(dropout, float) or not isinstance(tensors, dict):
        raise ValueError(f"{path}: no dropout or no tensors")

    d_model, num_heads, d_ff = sizes
    expected = {"norm1.weight": (d_model,), "norm2.weight": (d_model,)}
    for letter in "qkvo":
        expected[f"attention.{letter}_proj.weight"] = (d_model, d_model)
    expected["mlp.gate_proj.weight"] = expected["mlp.up_proj.weight"] = (d_ff, d_model)
    expected["mlp.down_proj.weight"] = (d_model, d_ff)
    if set(tensors) != set(expected):
        raise ValueError(f"{path}: keys {sorted(map(str, tensors))}")
    for key, shape in expected.items():
        if not isinstance(tensors[key], torch.Tensor) or tuple(tensors[key].shape) != shape:
            raise ValueError(f"{path}: {key} is no tensor of shape {shape}")
        if not tensors[key].is_floating_point():
            raise ValueError(f"{path}: {key} is no floating point tensor")

    block = PreNormGatedBlock(d_model, num_heads, d_ff, dropout)
    block.load_state_dict(tensors, strict=True, assign=True)
    return block.eval()
