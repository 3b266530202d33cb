"""Style: sequence first inside, additive masks, in place on its own temporaries, a transposed view as result."""

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

    def forward(self, stream, memory, mask):
        t, b, d = stream.shape
        q, k, v = self.heads(self.q_proj(stream)), self.heads(self.k_proj(memory)), self.heads(self.v_proj(memory))
        scores = torch.bmm(q, k.mT).div_((d // self.num_heads) ** 0.5)  # (batch * heads, q_len, k_len)
        blind = None
        if mask is not None:
            hidden = ~mask.expand(b, self.num_heads, t, len(memory)).flatten(0, 1)
            blind = hidden.all(-1, keepdim=True)
            scores += torch.zeros_like(scores).masked_fill_(hidden & ~blind, float("-inf"))
        weights = scores.sub_(scores.detach().amax(-1, keepdim=True)).exp()
        weights = weights / weights.sum(-1, keepdim=True)
        if blind is not None:
            weights = weights.masked_fill(blind, 0)
        self.last_weights = weights.detach().view(b, self.num_heads, t, len(memory))
        return self.o_proj(torch.bmm(self.drop(weights), v).transpose(0, 1).reshape(t, b, d))


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout, eps):
        super().__init__()
        self.drop, self.norm = nn.Dropout(dropout, inplace=True), nn.LayerNorm((d_model,), eps)

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


class TransformerDecoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0, *, eps=1e-5, name="block"):
        super().__init__()
        if d_model // num_heads * num_heads < d_model:
            raise ValueError(f"{d_model} features can't be shared by {num_heads} heads")
        self.name, self.width, self.ffn = name, d_model, FeedForward(d_model, d_ff)
        for kind in ("self", "cross"):
            setattr(self, f"{kind}_attention", Attention(d_model, num_heads, dropout))
        for number in (1, 2, 3):
            setattr(self, f"addnorm{number}", AddNorm(d_model, dropout, eps))
        # Grows with the longest target so far, and is no part of a checkpoint.
        self.register_buffer("past", torch.ones(1, 1, dtype=torch.bool), persistent=False)

    def forward(self, x, encoder_output, self_mask=None, cross_mask=None, need_weights=False):
        *_, width = encoder_output.shape
        if width != self.width:
            raise ValueError(f"expected {self.width} features of the encoder and not {width}")
        length = x.shape[1]
        if len(self.past) < length or self.past.device != x.device:
            self.past = torch.ones(length, length, dtype=torch.bool, device=x.device).tril_()
        own = self.past[:length, :length]
        own = own if self_mask is None else own * self_mask
        stream, memory = x.transpose(0, 1), encoder_output.transpose(0, 1)
        stream = self.addnorm1(stream, self.self_attention(stream, stream, own))
        stream = self.addnorm2(stream, self.cross_attention(stream, memory, cross_mask))
        output = self.addnorm3(stream, self.ffn(stream)).transpose(0, 1)
        if need_weights:
            return output, self.self_attention.last_weights, self.cross_attention.last_weights
        return output
