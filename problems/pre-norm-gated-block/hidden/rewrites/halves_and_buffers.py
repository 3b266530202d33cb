"""The rotate-half form, one product for all projections, a block made on the meta device, a nested file."""

import torch
from torch import nn
from torch.nn import functional as F


class RMSNorm(nn.RMSNorm):
    def __init__(self, width):
        super().__init__(width, eps=1e-6)


class Attention(nn.Module):
    def __init__(self, width, heads, p):
        super().__init__()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(width, width, bias=False))
        self.heads, self.p = heads, p
        d_head = width // heads
        self.exponents = [i / d_head for i in range(0, d_head, 2)]  # numbers: no cast of the module rounds them

    def table(self, positions):
        inverse = torch.tensor(self.exponents, dtype=torch.float64, device=positions.device)
        angles = torch.outer(positions.to(torch.float64), torch.pow(10000.0, -inverse))
        return torch.cat([angles, angles], dim=-1)

    def forward(self, x, positions, mask=None):
        weight = torch.cat([self.q_proj.weight, self.k_proj.weight, self.v_proj.weight])
        q, k, v = F.linear(x, weight).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        angles = self.table(positions)
        cosine, sine = angles.cos().to(x), angles.sin().to(x)
        q, k = (part * cosine + half_turned(part) * sine for part in (q, k))
        scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), -1e30)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights * mask.any(-1, keepdim=True)
        weights = F.dropout(weights, self.p, self.training)
        return F.dropout(self.o_proj((weights @ v).transpose(1, 2).reshape(x.shape)), self.p, self.training)


def half_turned(x):
    first, second = x.tensor_split(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


class MLP(nn.Sequential):
    def __init__(self, width, hidden, p):
        super().__init__()
        self.add_module("gate_proj", nn.Linear(width, hidden, bias=False))
        self.add_module("up_proj", nn.Linear(width, hidden, bias=False))
        self.add_module("down_proj", nn.Linear(hidden, width, bias=False))
        self.add_module("drop", nn.Dropout(p, inplace=True))

    def forward(self, x):
        return self.drop(self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x)))


class PreNormGatedBlock(nn.Module):
    FORMAT = "pre-norm gated block, version 1"

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.0, name: str = "") -> None:
        if d_model % num_heads != 0 or (d_model // num_heads) % 2 == 1:
            raise ValueError(f"d_model {d_model} can't be cut into {num_heads} heads of even width")
        super().__init__()
        self.name = name
        self.attention = Attention(d_model, num_heads, dropout)
        self.mlp = MLP(d_model, d_ff, dropout)
        self.norm1 = RMSNorm(d_model)
        self.norm2 = RMSNorm(d_model)

    def forward(self, x, positions=None, mask=None, *more):
        if positions is None:
            positions = torch.arange(x.shape[-2]).to(x.device)
        x = torch.add(x, self.attention(self.norm1(x), positions, mask))
        return torch.add(x, self.mlp(self.norm2(x)))


def save_block(block, path):
    d_ff, d_model = block.mlp.up_proj.weight.shape
    layout = {"d_model": d_model, "num_heads": block.attention.heads, "d_ff": d_ff, "dropout": block.attention.p}
    inside = {"layout": layout, "dtype": str(block.norm1.weight.dtype), "weights": dict(block.state_dict())}
    torch.save({PreNormGatedBlock.FORMAT: inside}, path)


def load_block(path):
    try:
        inside = torch.load(path, weights_only=True)[PreNormGatedBlock.FORMAT]
        with torch.device("meta"):
            block = PreNormGatedBlock(**inside["layout"])
        block.to_empty(device="cpu").to(getattr(torch, inside["dtype"].removeprefix("torch.")))
        block.load_state_dict(inside["weights"])
    except FileNotFoundError:
        raise
    except Exception as exc:
        raise ValueError(f"{path} holds no {PreNormGatedBlock.FORMAT}") from exc
    return block.eval()
