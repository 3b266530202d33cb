import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.o_proj = nn.Linear(embed_dim, embed_dim, bias=True)

    def _split(self, t):
        bsz, length, _ = t.size()
        return t.reshape(bsz, length, self.num_heads, self.embed_dim // self.num_heads).transpose(1, 2)

    def _merge(self, t):
        bsz, _, length, _ = t.size()
        return t.transpose(1, 2).reshape(bsz, length, self.embed_dim)

    def forward(self, hidden, *, attn_mask=None):
        q = self._split(self.q_proj(hidden))
        k = self._split(self.k_proj(hidden))
        v = self._split(self.v_proj(hidden))
        logits = torch.matmul(q, k.transpose(-2, -1)) * (q.size(-1) ** -0.5)
        if attn_mask is None:
            return self.o_proj(self._merge(torch.matmul(F.softmax(logits, dim=-1), v)))
        blocked = attn_mask.logical_not()
        logits = logits.masked_fill(blocked, torch.finfo(logits.dtype).min)
        probs = F.softmax(logits, dim=-1).masked_fill(blocked, 0.0)
        return self.o_proj(self._merge(torch.matmul(probs, v)))


class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.fc1 = nn.Linear(embed_dim, hidden_dim)
        self.act = nn.GELU(approximate="none")
        self.fc2 = nn.Linear(hidden_dim, embed_dim)

    def forward(self, hidden):
        return self.fc2(self.act(self.fc1(hidden)))


class StackLayer(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim, *, norm_first=True):
        super().__init__()
        self.norm_first = norm_first
        self.norm1 = nn.LayerNorm(embed_dim, eps=1e-5)
        self.attention = SelfAttention(embed_dim, num_heads)
        self.norm2 = nn.LayerNorm(embed_dim, eps=1e-5)
        self.mlp = FeedForward(embed_dim, hidden_dim)

    def _forward_pre(self, hidden, *, attn_mask=None):
        hidden = hidden + self.attention(self.norm1(hidden), attn_mask=attn_mask)
        return hidden + self.mlp(self.norm2(hidden))

    def _forward_post(self, hidden):
        hidden = self.norm1(hidden + self.attention(hidden))
        return self.norm2(hidden + self.mlp(hidden))

    def forward(self, hidden, *, attn_mask=None):
        if self.norm_first:
            return self._forward_pre(hidden, attn_mask=attn_mask)
        return self._forward_post(hidden)


class BlockStack(nn.Module):
    def __init__(self, num_blocks, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self._validate(num_blocks=num_blocks, d_model=d_model, num_heads=num_heads)
        self.norm_first = norm_first
        self.blocks = nn.ModuleList(
            [StackLayer(d_model, num_heads, d_ff, norm_first=norm_first) for _ in range(num_blocks)]
        )
        if norm_first:
            self.norm = nn.LayerNorm(d_model, eps=1e-5)

    @staticmethod
    def _validate(*, num_blocks, d_model, num_heads):
        if num_blocks < 0:
            raise ValueError(f"num_blocks must be at least 0, got {num_blocks}")
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads must divide d_model={d_model}, got {num_heads}")

    def _finish(self, hidden):
        if not self.norm_first:
            return hidden
        return self.norm(hidden)

    def forward(self, x, mask=None, return_stream=False):
        hidden = x
        stream = [hidden]
        for layer in self.blocks:
            hidden = layer(hidden, attn_mask=mask)
            stream.append(hidden)
        output = self._finish(hidden)
        if not return_stream:
            return output
        return output, stream
