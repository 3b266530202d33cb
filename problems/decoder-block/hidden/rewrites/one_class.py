"""Style: one forward of functional calls on named parameters, einsum for the heads, no helper modules."""

import torch
import torch.nn.functional as F
from torch import einsum, nn


class TransformerDecoderBlock(nn.Module):
    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        if num_heads * (d_model // num_heads) != d_model:
            raise ValueError(f"d_model={d_model} can't be cut into {num_heads} heads")
        self.num_heads, self.p = num_heads, dropout
        for name in ("self_attention", "cross_attention", "ffn", "addnorm1", "addnorm2", "addnorm3"):
            self.add_module(name, nn.Module())
        for attention in (self.self_attention, self.cross_attention):
            for name in "qkvo":
                attention.add_module(f"{name}_proj", nn.Linear(d_model, d_model))
        self.ffn.fc1, self.ffn.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        for addnorm in (self.addnorm1, self.addnorm2, self.addnorm3):
            addnorm.norm = nn.LayerNorm(d_model)

    def drop(self, x):
        return F.dropout(x, self.p, training=self.training)

    def project(self, layer, x):
        weight = layer.weight.unflatten(0, (self.num_heads, -1))  # (heads, d_head, d_model)
        return einsum("btd,hed->bhte", x, weight) + layer.bias.unflatten(0, (self.num_heads, 1, -1))

    def attend(self, layers, stream, memory, mask):
        q = self.project(layers.q_proj, stream)
        scores = einsum("bhqe,bhke->bhqk", q * q.shape[-1] ** -0.5, self.project(layers.k_proj, memory))
        weights = torch.where(mask, scores, -1e30).softmax(-1) * mask.any(-1, keepdim=True)
        out = layers.o_proj.weight.unflatten(1, (self.num_heads, -1))  # (d_model, heads, d_head)
        v = self.project(layers.v_proj, memory)
        return einsum("bhqk,bhke,dhe->bqd", self.drop(weights), v, out) + layers.o_proj.bias

    def forward(self, x, encoder_output, self_mask=None, cross_mask=None):
        if encoder_output.shape[-1] != x.shape[-1]:
            raise ValueError(f"{encoder_output.shape[-1]} features can't be read by a decoder of {x.shape[-1]}")
        everything = x.new_ones((x.shape[1], x.shape[1]), dtype=torch.bool)
        own = everything.tril() if self_mask is None else everything.tril().logical_and(self_mask)
        cross = everything[:1, :1] if cross_mask is None else cross_mask
        y = self.addnorm1.norm(x + self.drop(self.attend(self.self_attention, x, x, own)))
        z = self.addnorm2.norm(y + self.drop(self.attend(self.cross_attention, y, encoder_output, cross)))
        return self.addnorm3.norm(self.drop(self.ffn.fc2(F.relu(self.ffn.fc1(z)))) + z)
