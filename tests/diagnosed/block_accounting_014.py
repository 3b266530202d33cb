def attention_parameter_count(d_model, bias=True):
    count = 0
    for name in ["query", "key", "value", "output"]:
        weight = d_model * d_model
        count = count + weight
        if bias:
            count = count + d_model
    return count


def block_parameter_count(d_model, d_ff, gated=False, bias=True, cross_attention=False):
    # attention
    count = attention_parameter_count(d_model, bias)
    norms = 2
    if cross_attention:
        count = count + attention_parameter_count(d_model, bias)
        norms = 3
    # mlp
    weight_up = d_ff * d_model
    weight_down = d_model * d_ff
    count = count + weight_up + weight_down
    if bias:
        count = count + d_ff + d_model
    if gated:
        weight_gate = d_ff * d_model
        count = count + weight_gate
        if bias:
            count = count + d_ff
    # norms
    norm_weight = d_model
    norm_bias = d_model
    count = count + norms * (norm_weight + norm_bias)
    return count


def gpt2_parameter_count(vocab_size, max_len, d_model, num_blocks):
    tokens = vocab_size * d_model
    positions = max_len * d_model
    hidden = 4 * d_model
    blocks = num_blocks * block_parameter_count(d_model, hidden)
    norm = d_model + d_model
    count = tokens + positions + blocks + norm
    return count


def bert_parameter_count(vocab_size, max_len, type_vocab_size, d_model, d_ff, num_blocks):
    # embeddings
    tokens = vocab_size * d_model
    positions = max_len * d_model
    types = type_vocab_size * d_model
    embedding_norm = d_model + d_model
    # blocks
    blocks = num_blocks * block_parameter_count(d_model, d_ff)
    # pooler
    pooler = d_model * d_model + d_model
    # what predicts the words; its matrix is the token embedding
    transform = d_model * d_model + d_model
    transform_norm = d_model + d_model
    word_bias = vocab_size
    prediction = transform + transform_norm + word_bias
    count = tokens + positions + types + embedding_norm + blocks + pooler + prediction
    return count


def vit_parameter_count(img_size, patch_size, in_channels, d_model, d_ff, num_blocks, num_classes):
    side = img_size // patch_size
    patches = side * side
    tokens = patches + 1
    patch_length = patch_size * patch_size * in_channels
    patch_map = patch_length * d_model + d_model
    cls_token = d_model
    positions = tokens * d_model
    blocks = num_blocks * block_parameter_count(d_model, d_ff)
    norm = d_model + d_model
    head = d_model * num_classes + num_classes
    count = patch_map + cls_token + positions + blocks + norm + head
    return count


def block_forward_flops(batch, seq_len, d_model, d_ff, gated=False):
    multiply_adds = 0
    # projections
    multiply_adds = multiply_adds + 4 * batch * seq_len * d_model * d_model
    # queries with keys
    multiply_adds = multiply_adds + batch * seq_len * seq_len * d_model
    # weights with values
    multiply_adds = multiply_adds + batch * seq_len * seq_len * d_model
    # mlp
    matrices = 2
    if gated:
        matrices = 3
    multiply_adds = multiply_adds + matrices * batch * seq_len * d_model * d_ff
    return 2 * multiply_adds


def kv_cache_bytes(batch, seq_len, num_blocks, num_kv_heads, d_head, bytes_per_element):
    key_bytes = num_kv_heads * d_head * bytes_per_element
    value_bytes = num_kv_heads * d_head * bytes_per_element
    tokens = batch * seq_len
    return tokens * num_blocks * (key_bytes + value_bytes)
