def attention_parameter_count(d_model, bias=True):
    return 4 * d_model * (d_model + bool(bias))


def block_parameter_count(d_model, d_ff, gated=False, bias=True, cross_attention=False):
    d_ff, n, k = 4 * d_model, 2 if cross_attention else 1, 2 if gated else 1
    mlp = (k + 1) * d_model * d_ff + (k * d_ff + d_model if bias else 0)
    return n * attention_parameter_count(d_model, bias) + mlp + (n + 1) * 2 * d_model


def gpt2_parameter_count(vocab_size, max_len, d_model, num_blocks):
    return (vocab_size + max_len + 2) * d_model + num_blocks * block_parameter_count(d_model, 4 * d_model)


def bert_parameter_count(vocab_size, max_len, type_vocab_size, d_model, d_ff, num_blocks):
    outside = (vocab_size + max_len + type_vocab_size + 2) * d_model + d_model * (d_model + 1)
    return outside + num_blocks * block_parameter_count(d_model, d_ff)


def vit_parameter_count(img_size, patch_size, in_channels, d_model, d_ff, num_blocks, num_classes):
    n, pixels = (img_size // patch_size) ** 2, in_channels * patch_size ** 2
    outside = (pixels + 1) * d_model + (n + 2) * d_model + 2 * d_model + (d_model + 1) * num_classes
    return outside + num_blocks * block_parameter_count(d_model, d_ff)


def block_forward_flops(batch, seq_len, d_model, d_ff, gated=False):
    d_ff = 4 * d_model
    return 2 * batch * seq_len * d_model * (4 * d_model + 2 * seq_len + (3 if gated else 2) * d_ff)


def kv_cache_bytes(batch, seq_len, num_blocks, num_kv_heads, d_head, bytes_per_element):
    return 2 * batch * seq_len * num_blocks * num_kv_heads * d_head * bytes_per_element
