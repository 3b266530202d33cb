"""Model answer: a pre-norm block on PyTorch's fused attention that drops in training only.

The block: Xiong et al. 2020, figure 1(b), with GELU as in Dosovitskiy et al. 2021, equations 2 and 3. Dropout:
Srivastava et al. 2014, scaled in training so that evaluation is the plain network. `scaled_dot_product_attention` is a
function: it drops whenever `dropout_p` is positive and knows of no module's mode (its documentation says so).
"""

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
        dropout_p = self.dropout if self.training else 0.0  # asked at every call: the mode may change in between
        heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout_p)
        merged = heads.transpose(1, 2).flatten(2)  # (batch, seq_len, d_model)
        return self.o_proj(merged)

    def split_heads(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)


class MLP(nn.Module):
    """Two linear maps with a GELU between them; nn.Dropout follows the mode by itself."""

    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = self.fc1(x)  # (batch, seq_len, d_ff)
        activated = F.gelu(hidden)
        activated = self.dropout(activated)
        output = self.fc2(activated)  # (batch, seq_len, d_model)
        return self.dropout(output)


class Block(nn.Module):
    """x + attention(norm1(x)), then x + mlp(norm2(x))."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        self.norm1 = nn.LayerNorm(d_model, eps=1e-5)
        self.attention = SelfAttention(d_model, num_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model, eps=1e-5)
        self.mlp = MLP(d_model, d_ff, dropout)

    def forward(self, x, mask=None):
        attention_input = self.norm1(x)
        attention_output = self.attention(attention_input, mask)
        x = x + attention_output
        mlp_input = self.norm2(x)
        mlp_output = self.mlp(mlp_input)
        return x + mlp_output
