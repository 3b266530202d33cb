"""One formula for each count, as found in tables of model sizes."""


def attention_parameter_count(d_model, bias=True):
    return 4 * d_model * (d_model + bool(bias))


def block_parameter_count(d_model, d_ff, gated=False, bias=True, cross_attention=False):
    d, f, g, b, c = d_model, d_ff, int(bool(gated)), int(bool(bias)), int(bool(cross_attention))
    weights = 4 * (1 + c) * d**2 + (2 + g) * d * f
    biases = 4 * (1 + c) * d + (1 + g) * f + d
    return weights + b * biases + 2 * d * (2 + c)


def gpt2_parameter_count(vocab_size, max_len, d_model, num_blocks):
    return (vocab_size + max_len + 2) * d_model + num_blocks * (12 * d_model**2 + 13 * d_model)


def bert_parameter_count(vocab_size, max_len, type_vocab_size, d_model, d_ff, num_blocks):
    block = 4 * d_model**2 + 2 * d_model * d_ff + 9 * d_model + d_ff
    return (vocab_size + max_len + type_vocab_size + 3 + d_model) * d_model + num_blocks * block


def vit_parameter_count(img_size, patch_size, in_channels, d_model, d_ff, num_blocks, num_classes):
    block = 4 * d_model**2 + 2 * d_model * d_ff + 9 * d_model + d_ff
    tokens = img_size**2 // patch_size**2 + 1
    around = in_channels * patch_size**2 + 1 + 1 + tokens + 2 + num_classes  # everything that is d_model long
    return around * d_model + num_classes + num_blocks * block


def block_forward_flops(batch, seq_len, d_model, d_ff, gated=False):
    n, d, f = seq_len, d_model, d_ff
    return batch * n * (8 * d * d + 4 * n * d + (6 if gated else 4) * d * f)


def kv_cache_bytes(batch, seq_len, num_blocks, num_kv_heads, d_head, bytes_per_element):
    return batch * seq_len * num_blocks * num_kv_heads * d_head * bytes_per_element << 1
