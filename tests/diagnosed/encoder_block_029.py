from torch import nn
from torch.nn import functional as F


class Attn(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.h, self.p = h, p
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d, d) for _ in "qkvo")

    def forward(self, x, mask):
        q, k, v = (f(x).unflatten(2, (self.h, -1)).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        y = F.scaled_dot_product_attention(q, k, v, mask, self.p if self.training else 0.0)
        return self.o_proj(y.transpose(1, 2).flatten(2))


class AddNorm(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.norm, self.drop = nn.LayerNorm(d), nn.Dropout(p)

    def forward(self, x, y):
        return self.norm(self.drop(x) + self.drop(y))


class FFN(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d, f), nn.Linear(f, d)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class TransformerEncoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} / num_heads {num_heads} is no whole number")
        self.attention, self.ffn = Attn(d_model, num_heads, dropout), FFN(d_model, d_ff)
        self.addnorm1, self.addnorm2 = AddNorm(d_model, dropout), AddNorm(d_model, dropout)

    def forward(self, x, mask=None):
        x = self.addnorm1(x, self.attention(x, mask))
        return self.addnorm2(x, self.ffn(x))
