"""Oracle of the accounting: the sizes of PyTorch's own modules on the meta device, and sums over explicit products.

Real models are built without memory and their parameters counted, a shared one once; the cost of a block is the sum
over the sizes of all its matrix products, head by head. Radford et al. 2019 (GPT-2), Devlin et al. 2019 (BERT),
Dosovitskiy et al. 2021 (vision transformer), Kaplan et al. 2020, section 2.1 (operations).
"""

from __future__ import annotations

import math

import torch
from torch import nn


def attention_parameter_count(d_model: int, bias: bool = True) -> int:
    """The parameters of nn.MultiheadAttention with one head."""
    return _count(_attention(d_model, bias))


def block_parameter_count(
    d_model: int, d_ff: int, gated: bool = False, bias: bool = True, cross_attention: bool = False
) -> int:
    """The parameters of a block's attentions, linear maps and layer norms; ``bias`` is for attentions and maps."""
    return _count(_block(d_model, d_ff, gated, bias, cross_attention))


def gpt2_parameter_count(vocab_size: int, max_len: int, d_model: int, num_blocks: int) -> int:
    """The parameters of a GPT-2 whose head is its token embedding."""
    with torch.device("meta"):
        tokens, positions = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len, d_model)
        head = nn.Linear(d_model, vocab_size, bias=False)
        head.weight = tokens.weight
        blocks = [_block(d_model, 4 * d_model) for _ in range(num_blocks)]
        return _count(tokens, positions, *blocks, nn.LayerNorm(d_model), head)


def bert_parameter_count(
    vocab_size: int, max_len: int, type_vocab_size: int, d_model: int, d_ff: int, num_blocks: int
) -> int:
    """The parameters of a BERT: three embeddings with a norm, blocks, pooler."""
    with torch.device("meta"):
        embeddings = [nn.Embedding(rows, d_model) for rows in (vocab_size, max_len, type_vocab_size)]
        blocks = [nn.TransformerEncoderLayer(d_model, 1, d_ff, activation="gelu") for _ in range(num_blocks)]
        return _count(*embeddings, nn.LayerNorm(d_model), *blocks, nn.Linear(d_model, d_model))


def vit_parameter_count(
    img_size: int, patch_size: int, in_channels: int, d_model: int, d_ff: int, num_blocks: int, num_classes: int
) -> int:
    """The parameters of a vision transformer: a convolution cuts the patches, and a row of cls is prepended."""
    with torch.device("meta"):
        projection = nn.Conv2d(in_channels, d_model, kernel_size=patch_size, stride=patch_size)
        patches = projection(torch.empty(1, in_channels, img_size, img_size)).flatten(2).transpose(1, 2)
        cls_token = nn.Parameter(torch.empty(1, 1, d_model))
        positions = nn.Parameter(torch.empty_like(torch.cat([cls_token, patches], dim=1)))
        blocks = [_block(d_model, d_ff) for _ in range(num_blocks)]
        rest = nn.ParameterList([cls_token, positions])
        return _count(projection, rest, *blocks, nn.LayerNorm(d_model), nn.Linear(d_model, num_classes))


def block_forward_flops(batch: int, seq_len: int, d_model: int, d_ff: int, gated: bool = False) -> int:
    """The operations of every matrix product (rows, inner) @ (inner, columns), summed for one sequence."""
    products = [(seq_len, d_model, d_model)] * 4
    products += [(seq_len, 1, seq_len), (seq_len, seq_len, 1)] * d_model  # as many heads as there are features
    products += [(seq_len, d_model, d_ff)] * (2 if gated else 1) + [(seq_len, d_ff, d_model)]
    return batch * sum(2 * math.prod(sizes) for sizes in products)


def kv_cache_bytes(
    batch: int, seq_len: int, num_blocks: int, num_kv_heads: int, d_head: int, bytes_per_element: int
) -> int:
    """The bytes of a tensor of keys and one of values (batch, num_kv_heads, seq_len, d_head) for each block."""
    tensors = [(batch, num_kv_heads, seq_len, d_head) for _ in range(num_blocks) for _ in ("keys", "values")]
    return sum(math.prod(shape) * bytes_per_element for shape in tensors)


def _attention(d_model: int, bias: bool = True) -> nn.Module:
    return nn.MultiheadAttention(d_model, num_heads=1, bias=bias, device="meta")


def _block(d_model: int, d_ff: int, gated: bool = False, bias: bool = True, cross_attention: bool = False) -> nn.Module:
    sublayers: list[nn.Module] = [_attention(d_model, bias)]
    if cross_attention:
        sublayers.append(_attention(d_model, bias))
    with torch.device("meta"):
        maps = [nn.Linear(d_model, d_ff, bias=bias) for _ in range(2 if gated else 1)]
        sublayers.append(nn.ModuleList([*maps, nn.Linear(d_ff, d_model, bias=bias)]))
        return nn.ModuleList([*sublayers, *(nn.LayerNorm(d_model) for _ in sublayers)])


def _count(*modules: nn.Module) -> int:
    """The number of entries of all parameters; one that several modules share counts once."""
    return sum(parameter.numel() for parameter in nn.ModuleList(modules).parameters())
