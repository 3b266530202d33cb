"""A pre-norm block that runs, trains, and gives another output at every evaluation. Find out why, and repair it."""

from torch import nn
from torch.nn import functional as F


class SelfAttention(nn.Module):
    """Multi-head self-attention; a token that may attend to nothing gets the bias of o_proj."""

    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.dropout = dropout
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        query = self.split_heads(self.q_proj(x))  # (batch, num_heads, seq_len, d_head)
        key = self.split_heads(self.k_proj(x))
        value = self.split_heads(self.v_proj(x))
        heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=self.dropout)
        merged = heads.transpose(1, 2).flatten(2)  # (batch, seq_len, d_model)
        return self.o_proj(merged)

    def split_heads(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)


class MLP(nn.Module):
    """Two linear maps with a GELU between them."""

    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = self.dropout(F.gelu(self.fc1(x)))  # (batch, seq_len, d_ff)
        return self.dropout(self.fc2(hidden))


class Block(nn.Module):
    """x + attention(norm1(x)), then x + mlp(norm2(x))."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = SelfAttention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x, mask=None):
        """x (batch, seq_len, d_model); mask None or boolean, True = may attend; returns (batch, seq_len, d_model)."""
        x = x + self.attention(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))
