import torch
import torch.nn.functional as F
from torch import nn

MOVED_LINES = ["L4", "L8"]
REWIRED_LINES = ["L1", "L5"]


class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model, eps=1e-5)
        self.attention = SelfAttention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model, eps=1e-5)
        self.mlp = MLP(d_model, d_ff)
        self.p = dropout

    def forward(self, x, mask=None):
        normed = self.norm1(x)
        attention_output = self.attention(normed, mask)
        attention_output = F.dropout(attention_output, p=self.p)
        x = x + attention_output

        normed = self.norm2(x)
        mlp_output = self.mlp(normed)
        mlp_output = F.dropout(mlp_output, p=self.p)
        return x + mlp_output


class SelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        batch, seq_len, d_model = x.shape
        shape = (batch, seq_len, self.num_heads, self.d_head)

        q = torch.matmul(x, self.q_proj.weight.T) + self.q_proj.bias
        k = torch.matmul(x, self.k_proj.weight.T) + self.k_proj.bias
        v = torch.matmul(x, self.v_proj.weight.T) + self.v_proj.bias
        q = q.reshape(shape).permute(0, 2, 1, 3)
        k = k.reshape(shape).permute(0, 2, 3, 1)
        v = v.reshape(shape).permute(0, 2, 1, 3)

        scores = torch.matmul(q, k) * self.d_head**-0.5
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
            weights = torch.softmax(scores, dim=-1).masked_fill(~mask, 0.0)

        merged = torch.matmul(weights, v).permute(0, 2, 1, 3).reshape(batch, seq_len, d_model)
        return torch.matmul(merged, self.o_proj.weight.T) + self.o_proj.bias


class MLP(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = torch.matmul(x, self.fc1.weight.T) + self.fc1.bias
        hidden = torch.clamp(hidden, min=0.0)
        return torch.matmul(hidden, self.fc2.weight.T) + self.fc2.bias
