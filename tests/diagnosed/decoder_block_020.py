import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.ModuleDict):
    def __init__(self, width, heads, rate):
        super().__init__({name: nn.Linear(width, width) for name in ("q_proj", "k_proj", "v_proj", "o_proj")})
        self.heads, self.rate = heads, rate

    def forward(self, queries, memory, mask=None):
        b, n, width = queries.shape
        q = self["q_proj"](queries).reshape(b, n, self.heads, -1)
        k, v = (self[name](memory).reshape(b, memory.shape[1], self.heads, -1) for name in ("k_proj", "v_proj"))
        scores = torch.einsum("bihe,bjhe->bhij", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1) if mask is None else scores.softmax(dim=-1) * mask
        weights = F.dropout(weights, self.rate, self.training)
        return self["o_proj"](torch.einsum("bhij,bjhe->bihe", weights, v).reshape(b, n, width))


class AddNorm(nn.Module):
    def __init__(self, width, rate):
        super().__init__()
        self.rate, self.norm = rate, nn.LayerNorm(width)

    def forward(self, stream, output):
        return self.norm(stream + F.dropout(output, self.rate, self.training))


class FeedForward(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, z):
        return self.fc2(F.relu(self.fc1(z)))


class TransformerDecoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model {d_model} can't be cut into {num_heads} heads")
        self.width = d_model
        self.self_attention = Attention(d_model, num_heads, dropout)
        self.cross_attention = Attention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        for i in (1, 2, 3):
            setattr(self, f"addnorm{i}", AddNorm(d_model, dropout))

    def forward(self, x, encoder_output, self_mask=None, cross_mask=None):
        if encoder_output.size(-1) != self.width:
            raise ValueError(f"encoder_output must be {self.width} wide and is {encoder_output.size(-1)}")
        places = torch.arange(x.size(1), device=x.device)
        visible = places[:, None] >= places
        if self_mask is not None:
            visible = visible | self_mask
        y = self.addnorm1(x, self.self_attention(x, x, visible))
        z = self.addnorm2(y, self.cross_attention(y, encoder_output, cross_mask))
        return self.addnorm3(z, self.ffn(z))
