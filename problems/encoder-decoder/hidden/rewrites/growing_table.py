"""Style: a table of positions that grows, fused attention, add and norm around sublayers, blocks in containers."""

import torch
from torch import nn
from torch.nn import functional as F


class SizeError(ValueError):
    """A size that the model can't have."""


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, p):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d_model, d_model) for _ in range(4))
        self.num_heads, self.p = num_heads, p

    def forward(self, x, memory=None, mask=None, is_causal=False):
        memory = x if memory is None else memory
        q, k, v = (
            layer(given).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for layer, given in ((self.q_proj, x), (self.k_proj, memory), (self.v_proj, memory))
        )
        p = self.p if self.training else 0.0
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p, is_causal=is_causal)
        return self.o_proj(heads.transpose(1, 2).flatten(-2))


class AddNorm(nn.Module):
    def __init__(self, d_model, p):
        super().__init__()
        self.norm, self.drop = nn.LayerNorm(d_model), nn.Dropout(p)

    def forward(self, x, sublayer, *args, **kwargs):
        return self.norm(self.drop(sublayer(x, *args, **kwargs)) + x)


class FFN(nn.Sequential):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.act = nn.ReLU(inplace=True)
        self.fc2 = nn.Linear(d_ff, d_model)


class EncoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, p):
        super().__init__()
        self.attention, self.addnorm1 = Attention(d_model, num_heads, p), AddNorm(d_model, p)
        self.ffn, self.addnorm2 = FFN(d_model, d_ff), AddNorm(d_model, p)

    def forward(self, x, mask):
        return self.addnorm2(self.addnorm1(x, self.attention, mask=mask), self.ffn)


class DecoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, p):
        super().__init__()
        self.self_attention, self.addnorm1 = Attention(d_model, num_heads, p), AddNorm(d_model, p)
        self.cross_attention, self.addnorm2 = Attention(d_model, num_heads, p), AddNorm(d_model, p)
        self.ffn, self.addnorm3 = FFN(d_model, d_ff), AddNorm(d_model, p)

    def forward(self, x, memory, mask):
        x = self.addnorm1(x, self.self_attention, is_causal=True)
        return self.addnorm3(self.addnorm2(x, self.cross_attention, memory, mask=mask), self.ffn)


class EncoderDecoder(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model, d_ff, num_heads, num_blocks, dropout=0.0, *, table_len=8):
        super().__init__()
        if d_model % 2 or d_model % num_heads:
            raise SizeError(f"width {d_model} can't be cut into pairs and {num_heads} heads")
        if num_blocks < 0:
            raise SizeError(f"there can't be {num_blocks} blocks")
        self.source_tokens = nn.Embedding(source_vocab, d_model)
        self.target_tokens = nn.Embedding(target_vocab, d_model)
        self.drop = nn.Dropout(dropout)
        for side, block in (("encoder", EncoderBlock), ("decoder", DecoderBlock)):
            blocks = nn.ModuleList(block(d_model, d_ff, num_heads, dropout) for _ in range(num_blocks))
            self.add_module(f"{side}_blocks", blocks)
        self.head = nn.Linear(d_model, target_vocab)
        self.register_buffer("table", self.positions(table_len), persistent=False)

    def positions(self, count):
        width = self.head.in_features
        frequencies = torch.exp(torch.arange(0, width, 2).double() * (-torch.log(torch.tensor(1e4).double()) / width))
        table = torch.empty(count, width, dtype=torch.float64)
        table[:, 0::2] = (torch.arange(count)[:, None] * frequencies).sin_()
        table[:, 1::2] = (torch.arange(count)[:, None] * frequencies).cos_()
        return table

    def embed(self, layer, ids):
        x = layer(ids) * layer.embedding_dim**0.5
        if ids.shape[1] > len(self.table):
            self.table = self.positions(2 * ids.shape[1]).to(self.table)
        x += self.table[: ids.shape[1]].to(x)
        return self.drop(x)

    @staticmethod
    def mask(lengths, size):
        if lengths is None:
            return None
        return torch.arange(size, device=lengths.device).expand(len(lengths), 1, 1, size) < lengths.view(-1, 1, 1, 1)

    def encode(self, source, source_lengths=None):
        x, mask = self.embed(self.source_tokens, source), self.mask(source_lengths, source.size(1))
        for block in self.encoder_blocks:
            x = block(x, mask)
        return x

    def decode(self, target, encoder_output, source_lengths=None):
        x, mask = self.embed(self.target_tokens, target), self.mask(source_lengths, encoder_output.size(1))
        for block in self.decoder_blocks:
            x = block(x, encoder_output, mask)
        return self.head(x)

    def forward(self, source, target, source_lengths=None):
        return self.decode(target, self.encode(source, source_lengths), source_lengths)
