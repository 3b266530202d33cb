import torch
import torch.nn.functional as F
from torch import nn


class EncoderSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, *, attn_dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.scaling = self.head_dim**-0.5
        self.attn_dropout = attn_dropout
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.o_proj = nn.Linear(embed_dim, embed_dim)

    def _shape(self, states):
        bsz, seq_len, _ = states.shape
        return states.reshape(bsz, seq_len, self.num_heads, self.head_dim).transpose(1, 2)

    def _attention_weights(self, query, key, *, mask=None):
        scores = torch.matmul(query * self.scaling, key.transpose(2, 3))
        if mask is None:
            return F.softmax(scores, dim=-1)
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        return F.softmax(scores, dim=-1).masked_fill(~mask, 0.0)

    def forward(self, hidden_states, *, mask=None):
        query = self._shape(self.q_proj(hidden_states))
        key = self._shape(self.k_proj(hidden_states))
        value = self._shape(self.v_proj(hidden_states))
        weights = self._attention_weights(query, key, mask=mask)
        weights = F.dropout(weights, p=self.attn_dropout, training=self.training)
        context = torch.matmul(weights, value).transpose(1, 2).flatten(start_dim=2)
        return self.o_proj(context)


class AddNorm(nn.Module):
    def __init__(self, embed_dim, *, dropout=0.0):
        super().__init__()
        self.norm = nn.LayerNorm(embed_dim, eps=1e-5)
        self.dropout = nn.Dropout(dropout)

    def forward(self, residual, hidden_states):
        return self.norm(residual + self.dropout(hidden_states))


class EncoderFeedForward(nn.Module):
    def __init__(self, embed_dim, ffn_dim):
        super().__init__()
        self.fc1 = nn.Linear(embed_dim, ffn_dim)
        self.fc2 = nn.Linear(ffn_dim, embed_dim)

    def forward(self, hidden_states):
        return self.fc2(F.relu(self.fc1(hidden_states)))


class TransformerEncoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        self._check_heads(d_model=d_model, num_heads=num_heads)
        self.attention = EncoderSelfAttention(d_model, num_heads, attn_dropout=dropout)
        self.ffn = EncoderFeedForward(d_model, d_ff)
        self.addnorm1 = AddNorm(d_model, dropout=dropout)
        self.addnorm2 = AddNorm(d_model, dropout=dropout)

    @staticmethod
    def _check_heads(*, d_model, num_heads):
        if d_model % num_heads == 0:
            return
        raise ValueError(f"d_model must be divisible by num_heads (got d_model={d_model}, num_heads={num_heads})")

    def _sa_block(self, x, *, mask=None):
        return self.addnorm2(x, self.attention(x, mask=mask))

    def _ff_block(self, x):
        return self.addnorm1(x, self.ffn(x))

    def forward(self, x, mask=None):
        return self._ff_block(self._sa_block(x, mask=mask))
