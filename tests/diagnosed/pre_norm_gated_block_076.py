import math
import os

import torch
from torch import nn

FORMAT = "gated-block/1"
FIELDS = ("d_model", "num_heads", "d_ff", "dropout")


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        size = x.shape[-1]
        return self.weight * x / torch.sqrt(x.square().sum(-1, keepdim=True) / size + 1e-6)


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))
        self.dropout = nn.Dropout(dropout)

    def angles(self, positions):
        columns = []
        for j in range(self.d_head // 2):
            frequency = 10000.0 ** (-2 * j / self.d_head)
            columns.append(positions.to(torch.float32) * frequency)
        return torch.stack(columns, dim=1)

    def forward(self, x, positions, mask):
        batch, seq_len, _ = x.shape
        angles = self.angles(positions)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        if mask is not None:
            mask = mask.expand(batch, self.num_heads, seq_len, seq_len)

        queries, keys, values = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        half = self.d_head // 2
        results = []
        for head in range(self.num_heads):
            start = head * self.d_head
            middle, end = start + half, start + self.d_head
            turned = []
            for features in (queries, keys):
                first, second = features[:, :, start:middle], features[:, :, middle:end]
                turned.append(torch.cat([first * cos - second * sin, first * sin + second * cos], dim=2))
            query, key = turned
            scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(self.d_head)
            if mask is None:
                weights = torch.softmax(scores, dim=2)
            else:
                visible = mask[:, head]
                scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
                weights = torch.softmax(scores, dim=2) * visible
            results.append(torch.bmm(self.dropout(weights), values[:, :, start:end]))
        return self.o_proj(torch.cat(results, dim=2))


class GatedMLP(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        gate = self.gate_proj(x)
        return self.down_proj(nn.functional.silu(gate) * self.up_proj(x))


class PreNormGatedBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} is no divisor of d_model {d_model}")
        if d_model // num_heads % 2 != 0:
            raise ValueError(f"d_head {d_model // num_heads} must be even")
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_ff = d_ff
        self.norm1 = Norm(d_model)
        self.attention = RotaryAttention(d_model, num_heads, dropout)
        self.norm2 = Norm(d_model)
        self.mlp = GatedMLP(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, positions=None, mask=None):
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        positions = positions.to(x.device)
        steps = (
            (self.norm1, lambda h: self.attention(h, positions, mask)),
            (self.norm2, self.mlp),
        )
        for norm, sublayer in steps:
            x = x + self.dropout(sublayer(norm(x)))
        return x


def save_block(block, path):
    content = {"format": FORMAT}
    for field in FIELDS[:3]:
        content[field] = int(getattr(block, field))
    content["dropout"] = float(block.dropout.p)
    for key, tensor in block.state_dict().items():
        content["tensor:" + key] = tensor.detach().clone().cpu()
    target = os.fspath(path)
    partial = target + ".partial"
    torch.save(content, partial)
    os.replace(partial, target)


def load_block(path):
    target = os.fspath(path)
    if not os.path.isfile(target):
        raise FileNotFoundError(f"there is no file {target}")
    try:
        content = torch.load(target, map_location="cpu", weights_only=True)
    except Exception as error:
        raise ValueError(f"{target} is no file of tensors") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{target} holds no block")

    state = {}
    for key, value in content.items():
        if isinstance(key, str) and key.startswith("tensor:"):
            if not isinstance(value, torch.Tensor) or not value.is_floating_point():
                raise ValueError(f"{target}: {key} is not a tensor of numbers")
            state[key.removeprefix("tensor:")] = value
    try:
        sizes = [content[field] for field in FIELDS]
        if state["mlp.up_proj.weight"].shape != (sizes[2], sizes[0]):
            raise ValueError("sizes do not fit")
        block = PreNormGatedBlock(*sizes)
        for key, parameter in block.named_parameters():
            parameter.data = parameter.data.to(state[key].dtype)
        block.load_state_dict(state)
    except Exception as error:
        raise ValueError(f"{target}: {error}") from error
    return block.eval()
