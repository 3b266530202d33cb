"""Lists of shapes and of matrix products, written down one by one and summed."""

from math import prod


def entries(shapes):
    return sum(map(prod, shapes))


def linear(out_features, in_features, bias):
    return [(out_features, in_features), *([(out_features,)] if bias else [])]


def norm(d_model):
    return [(d_model,), (d_model,)]


def attention(d_model, bias):
    return [shape for _ in "qkvo" for shape in linear(d_model, d_model, bias)]


def block(d_model, d_ff, gated=False, bias=True, cross_attention=False):
    shapes = [*attention(d_model, bias), *norm(d_model)]
    if cross_attention:
        shapes += shapes
    shapes += linear(d_ff, d_model, bias) * (2 if gated else 1)
    return [*shapes, *linear(d_model, d_ff, bias), *norm(d_model)]


def attention_parameter_count(d_model, bias=True):
    return entries(attention(d_model, bias))


def block_parameter_count(d_model, d_ff, gated=False, bias=True, cross_attention=False):
    return entries(block(d_model, d_ff, gated, bias, cross_attention))


def gpt2_parameter_count(vocab_size, max_len, d_model, num_blocks):
    return entries(
        [(vocab_size, d_model), (max_len, d_model), *block(d_model, 4 * d_model) * num_blocks, *norm(d_model)]
    )


def bert_parameter_count(vocab_size, max_len, type_vocab_size, d_model, d_ff, num_blocks):
    shapes = [(rows, d_model) for rows in (vocab_size, max_len, type_vocab_size)] + norm(d_model)
    return entries(shapes + block(d_model, d_ff) * num_blocks + linear(d_model, d_model, bias=True))


def vit_parameter_count(img_size, patch_size, in_channels, d_model, d_ff, num_blocks, num_classes):
    corners = range(0, img_size, patch_size)
    shapes = [(d_model, in_channels, patch_size, patch_size), (d_model,), (1, 1, d_model)]
    shapes += [(1, len(corners) * len(corners) + 1, d_model), *block(d_model, d_ff) * num_blocks, *norm(d_model)]
    return entries(shapes + linear(num_classes, d_model, bias=True))


def block_forward_flops(batch, seq_len, d_model, d_ff, gated=False):
    products = {
        "query": (seq_len, d_model, d_model),
        "key": (seq_len, d_model, d_model),
        "value": (seq_len, d_model, d_model),
        "scores": (seq_len, d_model, seq_len),
        "mixture": (seq_len, seq_len, d_model),
        "output": (seq_len, d_model, d_model),
        "up": (seq_len, d_model, d_ff),
        "down": (seq_len, d_ff, d_model),
    }
    if gated:
        products["gate"] = products["up"]
    return sum(prod((2, batch, *sizes)) for sizes in products.values())


def kv_cache_bytes(batch, seq_len, num_blocks, num_kv_heads, d_head, bytes_per_element):
    return sum(prod((2, batch, num_kv_heads, seq_len, d_head, bytes_per_element)) for _ in range(num_blocks))
