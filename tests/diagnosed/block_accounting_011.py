def linear(n_in, n_out, bias=True):
    return n_in * n_out + (n_out if bias else 0)


def table(rows, width):
    return rows * width


def norm(width):
    return 2 * width


def matmul(rows, inner, columns):
    return 2 * rows * inner * columns


def attention_parameter_count(d_model, bias=True):
    return sum(linear(d_model, d_model, bias) for _ in ("q", "k", "v", "o"))


def mlp(d_model, d_ff, gated, bias):
    branches = 2 if gated else 1
    return branches * linear(d_model, d_ff, bias) + linear(d_ff, d_model, bias)


def block_parameter_count(d_model, d_ff, gated=False, bias=True, cross_attention=False):
    attentions = 2 if cross_attention else 1
    return (
        attentions * attention_parameter_count(d_model, bias)
        + mlp(d_model, d_ff, gated, bias)
        + (attentions + 1) * norm(d_model)
    )


def gpt2_parameter_count(vocab_size, max_len, d_model, num_blocks):
    tied_head = linear(d_model, vocab_size, bias=False)
    everything = (
        table(vocab_size, d_model)
        + table(max_len, d_model)
        + num_blocks * block_parameter_count(d_model, 4 * d_model)
        + norm(d_model)
    )
    return everything - tied_head


def bert_parameter_count(vocab_size, max_len, type_vocab_size, d_model, d_ff, num_blocks):
    embeddings = sum(table(rows, d_model) for rows in (vocab_size, max_len, type_vocab_size))
    blocks = num_blocks * block_parameter_count(d_model, d_ff)
    return embeddings + norm(d_model) + blocks + linear(d_model, d_model)


def vit_parameter_count(img_size, patch_size, in_channels, d_model, d_ff, num_blocks, num_classes):
    patches = (img_size // patch_size) ** 2
    before = linear(in_channels * patch_size**2, d_model) + table(1, d_model) + table(patches + 1, d_model)
    after = norm(d_model) + linear(d_model, num_classes)
    return before + num_blocks * block_parameter_count(d_model, d_ff) + after


def block_forward_flops(batch, seq_len, d_model, d_ff, gated=False):
    tokens = batch * seq_len
    matrices = 3 if gated else 2
    attention = batch * (matmul(seq_len, d_model, seq_len) + matmul(seq_len, seq_len, d_model))
    return 4 * matmul(tokens, d_model, d_model) + attention + matrices * matmul(tokens, d_model, d_ff)


def kv_cache_bytes(batch, seq_len, num_blocks, num_kv_heads, d_head, bytes_per_element):
    return 2 * num_blocks * table(batch * seq_len, num_kv_heads * d_head) * bytes_per_element
