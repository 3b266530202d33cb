import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.h, self.p = h, p
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        q, k, v = (m(x).unflatten(-1, (self.h, -1)).transpose(1, 2) for m in (self.q_proj, self.k_proj, self.v_proj))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p if self.training else 0.0, is_causal=True)
        return self.o_proj(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, d, f, h, p):
        super().__init__()
        self.norm1, self.norm2, self.attention = nn.LayerNorm(d), nn.LayerNorm(d), Attention(d, h, p)
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(d, f), "fc2": nn.Linear(f, d)})
        self.drop = nn.Dropout(p)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.drop(self.mlp["fc2"](self.drop(F.gelu(self.mlp["fc1"](self.norm2(x))))))


class DecoderOnlyLM(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        torch.manual_seed(0)
        if num_blocks < 0 or d_model % num_heads:
            raise ValueError(f"bad num_blocks {num_blocks} or num_heads {num_heads} for d_model {d_model}")
        self.max_len, self.drop = max_len, nn.Dropout(dropout)
        self.tokens, self.positions = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len, d_model)
        self.blocks = nn.Sequential(*(Block(d_model, d_ff, num_heads, dropout) for _ in range(num_blocks)))
        self.norm, self.head = nn.LayerNorm(d_model), nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids, offset=0):
        end = offset + ids.shape[1]
        if offset < 0 or end > self.max_len:
            raise ValueError(f"positions {offset}..{end - 1} outside of 0..{self.max_len - 1}")
        x = self.drop(self.tokens(ids) + self.positions(torch.arange(offset, end, device=ids.device)))
        return self.head(self.norm(self.blocks(x)))
