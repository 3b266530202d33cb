"""Every part is written down by its axes, as in einsum: "d" is the stream, "f" the hidden layer, "v" the vocabulary,
"p" the positions, "s" the segment types, "x" a flattened patch, "c" the classes, "b" the batch, "i" and "j" tokens,
"h" heads, "e" the features of a head.
"""
from math import prod


def _size(axes, sizes):
    return prod(sizes[axis] for axis in axes)


def _linear(spec, sizes, bias=True):
    source, target = spec.split("->")
    weight = _size(source + target, sizes)
    return weight + _size(source, sizes) if bias else weight


def _contraction(spec, sizes):
    axes = set(spec.replace(",", "").replace("->", ""))
    return 2 * _size(axes, sizes)


def _norm(sizes):
    return _size("d", sizes) + _size("d", sizes)


def attention_parameter_count(d_model, bias=True):
    return 4 * _linear("d->e", {"d": d_model, "e": d_model}, bias)


def block_parameter_count(d_model, d_ff, gated=False, bias=True, cross_attention=False):
    sizes = {"d": d_model, "f": d_ff}
    maps = ["d->f", "f->d"] + (["d->f"] if gated else [])
    attentions = 2 if cross_attention else 1
    count = attentions * attention_parameter_count(d_model, bias)
    count += sum(_linear(spec, sizes, bias) for spec in maps)
    return count + (attentions + 1) * _norm(sizes)


def gpt2_parameter_count(vocab_size, max_len, d_model, num_blocks):
    sizes = {"v": vocab_size, "p": max_len, "d": d_model}
    return (
        _size("vd", sizes)
        + _size("pd", sizes)
        + num_blocks * block_parameter_count(d_model, 4 * d_model)
        + _norm(sizes)
    )


def bert_parameter_count(vocab_size, max_len, type_vocab_size, d_model, d_ff, num_blocks):
    sizes = {"v": vocab_size, "p": max_len, "s": type_vocab_size, "d": d_model, "e": d_model}
    embeddings = sum(_size(axes, sizes) for axes in ("vd", "pd", "sd")) + _norm(sizes)
    return embeddings + num_blocks * block_parameter_count(d_model, d_ff) + _linear("d->e", sizes)


def vit_parameter_count(img_size, patch_size, in_channels, d_model, d_ff, num_blocks, num_classes):
    side = img_size // patch_size
    sizes = {"x": in_channels * patch_size * patch_size, "p": side * side + 1, "d": d_model, "c": num_classes}
    before = _linear("x->d", sizes) + _size("d", sizes) + _size("pd", sizes)
    after = _norm(sizes) + _linear("d->c", sizes)
    return before + num_blocks * block_parameter_count(d_model, d_ff) + after


def block_forward_flops(batch, seq_len, d_model, d_ff, gated=False):
    sizes = {"b": batch, "i": seq_len, "j": seq_len, "d": d_model, "e": d_model, "f": d_ff}
    products = ["bid,de->bie"] * 4 + ["bie,bje->bij", "bij,bje->bie", "bid,df->bif", "bif,fd->bid"]
    if gated:
        products.append("bid,df->bif")
    return sum(_contraction(spec, sizes) for spec in products)


def kv_cache_bytes(batch, seq_len, num_blocks, num_kv_heads, d_head, bytes_per_element):
    sizes = {"b": batch, "j": seq_len, "h": num_kv_heads, "e": d_head}
    return 2 * num_blocks * _size("bhje", sizes) * bytes_per_element
