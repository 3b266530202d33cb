import torch
from torch import nn
from torch.nn.functional import dropout, silu


def linear(i, o):
    return nn.Linear(i, o, bias=False)


def turned(x, p):
    n = x.shape[-1] // 2
    a = p[:, None] * 10000.0 ** (-torch.arange(n, device=x.device).double() / n)
    z = torch.polar(torch.ones_like(a), a)
    c, s = z.real.to(x.dtype), z.imag.to(x.dtype)
    return torch.cat([x[..., :n] * c - x[..., n:] * s, x[..., :n] * s + x[..., n:] * c], dim=-1)


class PreNormGatedBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % num_heads or d_model // num_heads % 2:
            raise ValueError(f"d_model={d_model} can't be cut into num_heads={num_heads} heads of even width")
        self.args = (d_model, num_heads, d_ff, dropout)
        self.norm1, self.norm2 = nn.RMSNorm(d_model, 1e-6), nn.RMSNorm(d_model, 1e-6)
        self.attention = nn.ModuleDict({n + "_proj": linear(d_model, d_model) for n in "qkvo"})
        self.mlp = nn.ModuleDict(
            {"gate_proj": linear(d_model, d_ff), "up_proj": linear(d_model, d_ff), "down_proj": linear(d_ff, d_model)}
        )

    def drop(self, x):
        return dropout(x, self.args[3], self.training)

    def attend(self, x, p, mask):
        b, s, d = x.shape
        q, k, v = (self.attention[n + "_proj"](x).view(b, s, self.args[1], -1).transpose(1, 2) for n in "qkv")
        w = turned(q, p) @ turned(k, p).mT / q.shape[-1] ** 0.5
        m = torch.ones(1, 1, dtype=torch.bool, device=x.device) if mask is None else mask
        w = self.drop(torch.where(m, torch.where(m, w, torch.finfo(w.dtype).min).softmax(-1), 0))
        return self.attention["o_proj"]((w @ v).transpose(1, 2).reshape(b, s, d))

    def forward(self, x, positions=None, mask=None):
        p = torch.arange(x.shape[1]) if positions is None else positions
        x = x + self.attend(self.norm1(x), p.to(x.device).double(), mask)
        h = self.norm2(x)
        h = silu(self.mlp["gate_proj"](h)) * self.mlp["up_proj"](h)
        return x + self.drop(self.mlp["down_proj"](h))


def save_block(block, path):
    with open(path, "wb") as f:
        torch.save([list(block.args), block.state_dict()], f)


def load_block(path):
    with open(path, "rb") as f:
        try:
            (d_model, num_heads, d_ff, p), state = torch.load(f, map_location="cpu", weights_only=True)
            assert state["mlp.down_proj.weight"].shape == (d_model, d_ff)
            block = PreNormGatedBlock(d_model, num_heads, d_ff, p).to(state["norm1.weight"].dtype)
            block.load_state_dict(state)
        except Exception as e:
            raise ValueError(f"{path} holds no block") from e
    return block.eval()
