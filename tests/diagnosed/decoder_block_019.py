import torch
from torch import nn
from torch.nn import functional as F


class Attn(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.h, self.p = h, p
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, y, mask):
        q, k, v = (f(t).unflatten(-1, (self.h, -1)).transpose(1, 2)
                   for f, t in ((self.q_proj, x), (self.k_proj, y), (self.v_proj, y)))
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is None:
            w = s.softmax(-1)
        else:
            w = s.masked_fill(~mask, torch.finfo(s.dtype).min).softmax(-1).masked_fill(~mask, 0)
        w = F.dropout(w, self.p, self.training)
        return self.o_proj((w @ v).transpose(1, 2).flatten(2))


class AddNorm(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.norm, self.drop = nn.LayerNorm(d), nn.Dropout(p)

    def forward(self, x, out):
        return self.norm(x + self.drop(out))


class FFN(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d, f), nn.Linear(f, d)

    def forward(self, x):
        return self.fc2(self.fc1(x).relu())


class TransformerDecoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads=} doesn't divide {d_model=}")
        self.d_model = d_model
        self.self_attention, self.cross_attention = (Attn(d_model, num_heads, dropout) for _ in range(2))
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(d_model, dropout) for _ in range(3))
        self.ffn = FFN(d_model, d_ff)

    def forward(self, x, encoder_output, self_mask=None, cross_mask=None):
        if encoder_output.shape[-1] != self.d_model:
            raise ValueError(f"encoder_output is {encoder_output.shape[-1]} wide, not {self.d_model}")
        n = x.shape[1]
        causal = torch.ones(n, n, dtype=torch.bool, device=x.device).tril()
        y = self.addnorm1(x, self.self_attention(x, x, causal if self_mask is None else self_mask))
        z = self.addnorm2(y, self.cross_attention(y, encoder_output, cross_mask))
        return self.addnorm3(z, self.ffn(z))
