"""Style: one class for both kinds of block, sequence first inside, additive masks, in place on temporaries."""

import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.num_heads, self.drop, self.last_weights = num_heads, nn.Dropout(dropout), None

    def heads(self, x):  # (seq_len, batch, d_model) to (batch * heads, seq_len, d_head)
        t, b, d = x.shape
        return x.reshape(t, b * self.num_heads, d // self.num_heads).transpose(0, 1)

    def forward(self, stream, memory, bias):  # bias: zeros and minus infinities, (1 or batch, q_len or 1, k_len)
        q, k, v = self.heads(self.q_proj(stream)), self.heads(self.k_proj(memory)), self.heads(self.v_proj(memory))
        scores = torch.bmm(q, k.mT).div_(math.sqrt(q.shape[-1]))  # (batch * heads, q_len, k_len)
        if bias is not None:
            scores += bias if len(bias) == 1 else bias.repeat_interleave(self.num_heads, 0)
        weights = scores.sub_(scores.detach().amax(-1, keepdim=True)).exp()
        weights = weights / weights.sum(-1, keepdim=True)
        self.last_weights = weights.detach()
        return self.o_proj(torch.bmm(self.drop(weights), v).transpose(0, 1).reshape(stream.shape))


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.drop, self.norm = nn.Dropout(dropout, inplace=True), nn.LayerNorm((d_model,))

    def forward(self, x, output):
        output = self.drop(output)
        output += x
        return self.norm(output)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.fc2(self.fc1(x).clamp_(min=0))


class Block(nn.Module):
    """An encoder block or, with cross=True, a decoder block."""

    def __init__(self, d_model, d_ff, num_heads, dropout, cross):
        super().__init__()
        self.own = "self_attention" if cross else "attention"
        setattr(self, self.own, Attention(d_model, num_heads, dropout))
        if cross:
            self.cross_attention = Attention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        for number in range(1, 3 + cross):
            setattr(self, f"addnorm{number}", AddNorm(d_model, dropout))

    def forward(self, x, own_bias, memory=None, cross_bias=None):
        x = self.addnorm1(x, getattr(self, self.own)(x, x, own_bias))
        if memory is None:
            return self.addnorm2(x, self.ffn(x))
        x = self.addnorm2(x, self.cross_attention(x, memory, cross_bias))
        return self.addnorm3(x, self.ffn(x))


class EncoderDecoder(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model, d_ff, num_heads, num_blocks, dropout=0.0, name="model"):
        super().__init__()
        if d_model % 2 == 1:
            raise ValueError(f"no positions for {d_model} features")
        if d_model // num_heads * num_heads < d_model:
            raise ValueError(f"{d_model} features can't be shared by {num_heads} heads")
        if num_blocks < 0:
            raise ValueError(f"{num_blocks} blocks are too few")
        self.name, self.drop = name, nn.Dropout(dropout)
        self.source_tokens, self.target_tokens = (
            nn.Embedding(source_vocab, d_model),
            nn.Embedding(target_vocab, d_model),
        )
        self.encoder_blocks, self.decoder_blocks = (
            nn.ModuleList(Block(d_model, d_ff, num_heads, dropout, cross) for _ in range(num_blocks))
            for cross in (False, True)
        )
        self.head = nn.Linear(d_model, target_vocab)

    def embed(self, layer, ids):  # (batch, seq_len) to (seq_len, batch, d_model)
        x = layer(ids.t())
        columns = torch.arange(x.shape[-1], device=ids.device)
        wavelengths = 10000.0 ** ((columns - columns % 2).double() / x.shape[-1])
        angles = torch.arange(len(x), device=ids.device)[:, None].double() / wavelengths
        positions = torch.where(columns % 2 == 0, angles.sin(), angles.cos())
        return self.drop(torch.add(positions[:, None].to(x.dtype), x, alpha=math.sqrt(x.shape[-1])))

    def bias(self, visible, like):
        return torch.zeros(visible.shape, dtype=like.dtype, device=like.device).masked_fill_(~visible, float("-inf"))

    def padding(self, lengths, size, like):
        if lengths is None:
            return None
        return self.bias((torch.arange(size, device=lengths.device)[None] < lengths[:, None])[:, None], like)

    def encode(self, source, source_lengths=None):
        x = self.embed(self.source_tokens, source)
        for block in self.encoder_blocks:
            x = block(x, self.padding(source_lengths, len(x), x))
        return x.transpose(0, 1)

    def decode(self, target, encoder_output, source_lengths=None, return_stream=False):
        x, memory = self.embed(self.target_tokens, target), encoder_output.transpose(0, 1)
        past = torch.ones(1, len(x), len(x), dtype=torch.bool, device=x.device).tril()
        for block in self.decoder_blocks:
            x = block(x, self.bias(past, x), memory, self.padding(source_lengths, len(memory), x))
        logits = self.head(x).transpose(0, 1)
        return (logits, x.transpose(0, 1)) if return_stream else logits

    def forward(self, source, target, source_lengths=None, **kwargs):
        return self.decode(target, self.encode(source, source_lengths), source_lengths, **kwargs)
