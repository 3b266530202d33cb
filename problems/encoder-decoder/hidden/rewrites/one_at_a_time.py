"""Style: one sequence at a time, each cut to its length, so that no padding mask is needed; loops over heads."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def attention_layers(d_model):
    return nn.ModuleDict({f"{name}_proj": nn.Linear(d_model, d_model) for name in "qkvo"})


def attend(layers, stream, memory, chunks, p, causal=False):  # (q_len, d_model), (k_len, d_model)
    heads = []
    for chunk in chunks:
        q, k, v = (
            F.linear(given, layers[name].weight[chunk], layers[name].bias[chunk])
            for name, given in (("q_proj", stream), ("k_proj", memory), ("v_proj", memory))
        )
        scores = q @ k.t() / math.sqrt(q.shape[1])
        if causal:
            scores = scores + torch.full_like(scores, -math.inf).triu(1)
        heads.append(F.dropout(scores.softmax(1), p) @ v)
    return layers["o_proj"](torch.cat(heads, dim=1))


class Block(nn.Module):
    def __init__(self, d_model, d_ff, attentions):
        super().__init__()
        self.attentions = attentions
        for number, name in enumerate((*attentions, "ffn"), start=1):
            setattr(self, f"addnorm{number}", nn.ModuleDict({"norm": nn.LayerNorm(d_model)}))
            if name != "ffn":
                setattr(self, name, attention_layers(d_model))
        self.ffn = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})

    def forward(self, x, memory, chunks, p):
        for number, name in enumerate((*self.attentions, "ffn"), start=1):
            if name == "ffn":
                output = self.ffn["fc2"](self.ffn["fc1"](x).relu())
            else:
                source = memory if name == "cross_attention" else x
                output = attend(getattr(self, name), x, source, chunks, p, causal=name == "self_attention")
            x = getattr(self, f"addnorm{number}")["norm"](x + F.dropout(output, p))
        return x


class EncoderDecoder(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        for wrong, why in ((d_model % 2, "odd width"), (d_model % num_heads, "heads"), (num_blocks < 0, "depth")):
            if wrong:
                raise ValueError(f"{why}: d_model={d_model}, num_heads={num_heads}, num_blocks={num_blocks}")
        width = d_model // num_heads
        self.chunks, self.p = [slice(h * width, (h + 1) * width) for h in range(num_heads)], dropout
        self.source_tokens, self.target_tokens = (
            nn.Embedding(source_vocab, d_model),
            nn.Embedding(target_vocab, d_model),
        )
        self.encoder_blocks, self.decoder_blocks = nn.ModuleList(), nn.ModuleList()
        for _ in range(num_blocks):
            self.encoder_blocks.append(Block(d_model, d_ff, ["attention"]))
            self.decoder_blocks.append(Block(d_model, d_ff, ["self_attention", "cross_attention"]))
        self.head = nn.Linear(d_model, target_vocab)

    def embed(self, table, ids):  # (seq_len,) to (seq_len, d_model)
        d_model = table.shape[1]
        rows = []
        for step, row in enumerate(table[ids]):
            angles = [step / 10000 ** (2 * j / d_model) for j in range(d_model // 2)]
            position = [function(angle) for angle in angles for function in (math.sin, math.cos)]
            rows.append(row * math.sqrt(d_model) + row.new_tensor(position))
        return F.dropout(torch.stack(rows), self.rate)

    @property
    def rate(self):
        return self.p if self.training else 0.0

    def encode(self, source, source_lengths=None):
        encoded = []
        for index, ids in enumerate(source):
            length = len(ids) if source_lengths is None else int(source_lengths[index])
            x = self.embed(self.source_tokens.weight, ids[:length])
            for block in self.encoder_blocks:
                x = block(x, None, self.chunks, self.rate)
            encoded.append(F.pad(x, (0, 0, 0, len(ids) - length)))
        return torch.stack(encoded)

    def decode(self, target, encoder_output, source_lengths=None):
        logits = []
        for index, (ids, memory) in enumerate(zip(target, encoder_output, strict=True)):
            if source_lengths is not None:
                memory = memory[: int(source_lengths[index])]
            x = self.embed(self.target_tokens.weight, ids)
            for block in self.decoder_blocks:
                x = block(x, memory, self.chunks, self.rate)
            logits.append(self.head(x))
        return torch.stack(logits)

    def forward(self, source, target, source_lengths=None):
        return self.decode(target, self.encode(source, source_lengths), source_lengths)
