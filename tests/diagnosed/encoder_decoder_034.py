import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, other, mask):
        batch = x.shape[0]
        x_len = x.shape[1]
        other_len = other.shape[1]

        queries = self.q_proj(x)
        keys = self.k_proj(other)
        values = self.v_proj(other)

        queries = queries.reshape(batch, x_len, self.num_heads, self.d_head)
        keys = keys.reshape(batch, other_len, self.num_heads, self.d_head)
        values = values.reshape(batch, other_len, self.num_heads, self.d_head)

        queries = queries.transpose(1, 2)
        keys = keys.transpose(1, 2)
        values = values.transpose(1, 2)

        keys_transposed = keys.transpose(2, 3)
        scores = torch.matmul(queries, keys_transposed)
        scores = scores / math.sqrt(self.d_head)
        if mask is not None:
            not_mask = ~mask
            smallest = torch.finfo(scores.dtype).min
            scores = scores.masked_fill(not_mask, smallest)
        weights = torch.softmax(scores, dim=-1)
        weights = self.dropout(weights)

        heads = torch.matmul(weights, values)
        heads = heads.transpose(1, 2)
        merged = heads.reshape(batch, x_len, self.num_heads * self.d_head)
        result = self.o_proj(merged)
        return result


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, output):
        dropped = self.dropout(output)
        total = x + dropped
        result = self.norm(total)
        return result


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = self.fc1(x)
        hidden = torch.relu(hidden)
        result = self.fc2(hidden)
        return result


class EncoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout):
        super().__init__()
        self.attention = Attention(d_model, num_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x, mask):
        attention_output = self.attention(x, x, mask)
        y = self.addnorm1(x, attention_output)
        ffn_output = self.ffn(y)
        result = self.addnorm2(y, ffn_output)
        return result


class DecoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout):
        super().__init__()
        self.self_attention = Attention(d_model, num_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.cross_attention = Attention(d_model, num_heads, dropout)
        self.addnorm2 = AddNorm(d_model, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.addnorm3 = AddNorm(d_model, dropout)

    def forward(self, x, encoder_output, self_mask, cross_mask):
        self_output = self.self_attention(x, x, self_mask)
        y = self.addnorm1(x, self_output)
        cross_output = self.cross_attention(y, encoder_output, cross_mask)
        z = self.addnorm2(y, cross_output)
        ffn_output = self.ffn(z)
        result = self.addnorm3(z, ffn_output)
        return result


class EncoderDecoder(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        if d_model % 2 == 1:
            raise ValueError("d_model must be even, but it is " + str(d_model))
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model, but it is " + str(num_heads))
        if num_blocks < 0:
            raise ValueError("num_blocks must not be negative, but it is " + str(num_blocks))
        self.d_model = d_model
        self.source_tokens = nn.Embedding(source_vocab, d_model)
        self.target_tokens = nn.Embedding(target_vocab, d_model)
        self.dropout = nn.Dropout(dropout)
        encoder_blocks = []
        decoder_blocks = []
        for i in range(num_blocks):
            encoder_block = EncoderBlock(d_model, d_ff, num_heads, dropout)
            encoder_blocks.append(encoder_block)
            decoder_block = DecoderBlock(d_model, d_ff, num_heads, dropout)
            decoder_blocks.append(decoder_block)
        self.encoder_blocks = nn.ModuleList(encoder_blocks)
        self.decoder_blocks = nn.ModuleList(decoder_blocks)
        self.head = nn.Linear(d_model, target_vocab)

    def positions(self, length, device):
        position = torch.arange(length, device=device, dtype=torch.float64)
        position = position.reshape(length, 1)
        two_j = torch.arange(0, self.d_model, 2, device=device, dtype=torch.float64)
        power = two_j / self.d_model
        divisor = torch.pow(10000.0, power)
        angle = position / divisor
        table = torch.zeros(length, self.d_model, device=device, dtype=torch.float64)
        table[:, 0::2] = torch.sin(angle)
        table[:, 1::2] = torch.cos(angle)
        return table

    def embed(self, ids, embedding):
        rows = embedding(ids)
        scaled = rows * math.sqrt(self.d_model)
        table = self.positions(ids.shape[1], ids.device)
        table = table.to(rows.dtype)
        total = scaled + table
        dropped = self.dropout(total)
        return dropped

    def source_mask(self, source_lengths, source_len):
        if source_lengths is None:
            return None
        position = torch.arange(source_len, device=source_lengths.device)
        position = position.reshape(1, source_len)
        lengths = source_lengths.reshape(-1, 1)
        mask = position < lengths
        mask = mask.reshape(mask.shape[0], 1, 1, source_len)
        return mask

    def run_encoder(self, embedded, source_lengths):
        mask = self.source_mask(source_lengths, embedded.shape[1])
        x = embedded
        for block in self.encoder_blocks:
            x = block(x, mask)
        return x

    def encode(self, source, source_lengths=None):
        embedded = self.embed(source, self.source_tokens)
        encoder_output = self.run_encoder(embedded, source_lengths)
        return encoder_output

    def decode(self, target, encoder_output, source_lengths=None):
        target_len = target.shape[1]
        everything = torch.ones(target_len, target_len, device=target.device, dtype=torch.bool)
        self_mask = torch.tril(everything)
        cross_mask = self.source_mask(source_lengths, encoder_output.shape[1])
        y = self.embed(target, self.target_tokens)
        for block in self.decoder_blocks:
            y = block(y, encoder_output, self_mask, cross_mask)
        logits = self.head(y)
        return logits

    def forward(self, source, target, source_lengths=None):
        embedded = self.embed(source, self.source_tokens)
        encoder_output = self.run_encoder(embedded, source_lengths)
        logits = self.decode(target, embedded, source_lengths)
        return logits
