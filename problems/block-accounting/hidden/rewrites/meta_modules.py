"""Real modules on the meta device, counted by numel; one block is built and stands for all."""

import torch
from torch import nn


def size(*modules):
    return sum({id(p): p.numel() for module in modules for p in module.parameters()}.values())


def linear(rows, columns, bias=True):
    return nn.Linear(rows, columns, bias=bias, device="meta")


def norm(width):
    return nn.LayerNorm(width, device="meta")


def attention_parameter_count(d_model, bias=True):
    return size(*(linear(d_model, d_model, bias) for _ in range(4)))


def block_parameter_count(d_model, d_ff, gated=False, bias=True, cross_attention=False):
    layers = [linear(d_model, d_ff, bias), linear(d_ff, d_model, bias), norm(d_model), norm(d_model)]
    if gated:
        layers.append(linear(d_model, d_ff, bias))
    total = size(*layers) + attention_parameter_count(d_model, bias)
    return total + (size(norm(d_model)) + attention_parameter_count(d_model, bias) if cross_attention else 0)


def gpt2_parameter_count(vocab_size, max_len, d_model, num_blocks):
    tokens = nn.Embedding(vocab_size, d_model, device="meta")
    positions = nn.Embedding(max_len, d_model, device="meta")
    head = linear(d_model, 1, bias=False)
    head.weight = tokens.weight
    blocks = num_blocks * block_parameter_count(d_model, 4 * d_model)
    return size(tokens, positions, norm(d_model), head) + blocks


def bert_parameter_count(vocab_size, max_len, type_vocab_size, d_model, d_ff, num_blocks):
    tables = [nn.Embedding(rows, d_model, device="meta") for rows in (vocab_size, max_len, type_vocab_size)]
    return size(*tables, norm(d_model), linear(d_model, d_model)) + num_blocks * block_parameter_count(d_model, d_ff)


def vit_parameter_count(img_size, patch_size, in_channels, d_model, d_ff, num_blocks, num_classes):
    projection = nn.Conv2d(in_channels, d_model, patch_size, patch_size, device="meta")
    patches = projection(torch.empty(1, in_channels, img_size, img_size, device="meta"))
    tokens = patches.shape[-2] * patches.shape[-1] + 1
    own = torch.empty(tokens + 1, d_model, device="meta").numel()  # cls and a position for every token
    around = size(projection, norm(d_model), linear(d_model, num_classes)) + own
    return around + num_blocks * block_parameter_count(d_model, d_ff)


def block_forward_flops(batch, seq_len, d_model, d_ff, gated=False):
    layers = [linear(d_model, d_model, False)] * 4 + [linear(d_model, d_ff, False)] * (2 + bool(gated))
    weights = sum(layer.weight.numel() for layer in layers)  # up and down have one size
    return 2 * batch * seq_len * (weights + 2 * seq_len * d_model)


def kv_cache_bytes(batch, seq_len, num_blocks, num_kv_heads, d_head, bytes_per_element):
    per_token = torch.empty(2, num_blocks, num_kv_heads, d_head, device="meta").numel()
    return per_token * batch * seq_len * bytes_per_element
