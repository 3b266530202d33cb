"""Style: the eight statements after the smallest edit, in place on the block's own tensors, a transposed result."""

import torch
from torch import nn
from torch.nn.functional import pad

MOVED_LINES = ("L8", "L4")
REWIRED_LINES = ("L5", "L1")


class SelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        def folded(linear):  # heads in the batch axis
            return linear(x).unflatten(-1, (-1, self.d_head)).movedim(2, 1).flatten(0, 1)

        query, key, value = folded(self.q_proj), folded(self.k_proj), folded(self.v_proj)
        scores = torch.bmm(query, key.mT).div_(self.d_head**0.5)
        if mask is not None:
            full = mask.broadcast_to(x.shape[0], self.num_heads, x.shape[1], x.shape[1]).flatten(0, 1)
            scores = scores.masked_fill_(full.logical_not(), -torch.inf)
        # A further key that scores nothing and holds a zero value catches the rows that see nothing.
        empty = (scores == -torch.inf).all(-1, keepdim=True)
        sink = torch.full_like(scores[..., :1], -torch.inf).masked_fill(empty, 0.0)
        weights = torch.cat([scores, sink], dim=-1).softmax(-1)
        heads = torch.bmm(weights, pad(value, (0, 0, 0, 1)))
        return self.o_proj(heads.unflatten(0, (-1, self.num_heads)).movedim(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.fc2(self.fc1(x).relu_())


class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if num_heads * (d_model // num_heads) != d_model:
            raise ValueError(f"num_heads={num_heads} leaves a rest of d_model={d_model}")
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.attention = SelfAttention(d_model, num_heads)
        self.mlp = MLP(d_model, d_ff)
        self.dropout = nn.Dropout(dropout, inplace=True)

    def forward(self, x, mask=None):
        normed = self.norm1(x)
        attention_output = self.attention(normed, mask)
        attention_output = self.dropout(attention_output)
        attention_output += x  # the branch is this block's own tensor, the stream is not
        x = attention_output
        normed = self.norm2(x)
        mlp_output = self.mlp(normed)
        mlp_output = self.dropout(mlp_output)
        mlp_output += x
        return mlp_output.transpose(0, 1).contiguous().transpose(0, 1)
