import torch
from torch import nn
from torch.nn import functional as F


def sinusoids(length, d_model, like):
    places = torch.arange(length, dtype=torch.float64, device=like.device).unsqueeze(1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64, device=like.device)
    angles = places / 10000 ** (even / d_model)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).to(like.dtype)


def embed(ids, table):
    rows = F.embedding(ids, table) * table.shape[1] ** 0.5
    return rows + sinusoids(ids.shape[1], table.shape[1], rows)


def key_mask(lengths, n):
    if lengths is None:
        return None
    return (torch.arange(n, device=lengths.device) < lengths.unsqueeze(1))[:, None, None, :]


def causal_mask(n, device):
    return torch.ones(n, n, dtype=torch.bool, device=device).tril()


def attend(q, k, v, mask, p):
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return F.dropout(F.softmax(scores, dim=-1), p) @ v


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, p):
        super().__init__()
        self.num_heads, self.p = num_heads, p
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def heads(self, t):
        return t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, x, memory, mask):
        q, k, v = self.heads(self.q_proj(x)), self.heads(self.k_proj(memory)), self.heads(self.v_proj(memory))
        out = attend(q, k, v, mask, self.p if self.training else 0.0)
        return self.o_proj(out.transpose(1, 2).flatten(2))


class AddNorm(nn.Module):
    def __init__(self, d_model, p):
        super().__init__()
        self.norm, self.p = nn.LayerNorm(d_model), p

    def forward(self, x, out):
        return self.norm(x + F.dropout(out, self.p, self.training))


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, p):
        super().__init__()
        self.attention = Attention(d_model, num_heads, p)
        self.addnorm1, self.addnorm2 = AddNorm(d_model, p), AddNorm(d_model, p)
        self.ffn = FFN(d_model, d_ff)

    def forward(self, x, mask):
        x = self.addnorm1(x, self.attention(x, x, mask))
        return self.addnorm2(x, self.ffn(x))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, p):
        super().__init__()
        self.self_attention = Attention(d_model, num_heads, p)
        self.cross_attention = Attention(d_model, num_heads, p)
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(d_model, p) for _ in range(3))
        self.ffn = FFN(d_model, d_ff)

    def forward(self, x, memory, mask, memory_mask):
        x = self.addnorm1(x, self.self_attention(x, x, mask))
        x = self.addnorm2(x, self.cross_attention(x, memory, memory_mask))
        return self.addnorm3(x, self.ffn(x))


def check(d_model, num_heads, num_blocks):
    if d_model % 2:
        raise ValueError(f"d_model {d_model} is odd")
    if d_model % num_heads:
        raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
    if num_blocks < 0:
        raise ValueError(f"num_blocks {num_blocks} is negative")


class EncoderDecoder(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        check(d_model, num_heads, num_blocks)
        self.p = dropout
        self.source_tokens = nn.Embedding(source_vocab, d_model)
        self.target_tokens = nn.Embedding(target_vocab, d_model)
        sizes = (d_model, d_ff, num_heads, dropout)
        self.encoder_blocks = nn.ModuleList(EncoderBlock(*sizes) for _ in range(num_blocks))
        self.decoder_blocks = nn.ModuleList(DecoderBlock(*sizes) for _ in range(num_blocks))
        self.head = nn.Linear(d_model, target_vocab)

    def encode(self, source, source_lengths=None):
        x = embed(source, self.source_tokens.weight)
        mask = key_mask(source_lengths, source.shape[1])
        for block in self.encoder_blocks:
            x = block(x, mask)
        return x

    def decode(self, target, encoder_output, source_lengths=None):
        y = F.dropout(embed(target, self.target_tokens.weight), self.p, self.training)
        mask = causal_mask(target.shape[1], target.device)
        memory_mask = key_mask(source_lengths, encoder_output.shape[1])
        for block in self.decoder_blocks:
            y = block(y, encoder_output, mask, memory_mask)
        return self.head(y)

    def forward(self, source, target, source_lengths=None):
        return self.decode(target, self.encode(source, source_lengths), source_lengths)
