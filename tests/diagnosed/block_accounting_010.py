def attention_parameter_count(d_model, bias=True):
    one_matrix = d_model * d_model
    four_matrices = 4 * one_matrix
    if bias:
        four_biases = 4 * d_model
    else:
        four_biases = 0
    return four_matrices + four_biases


def block_parameter_count(d_model, d_ff, gated=False, bias=True, cross_attention=False):
    attention = attention_parameter_count(d_model, bias)
    number_of_attentions = 1
    number_of_norms = 2
    if cross_attention:
        number_of_attentions = 2
        number_of_norms = 3

    up_weights = d_model * d_ff
    down_weights = d_ff * d_model
    mlp = up_weights + down_weights
    if gated:
        gate_weights = d_model * d_ff
        mlp = mlp + gate_weights
    if bias:
        up_bias = d_ff
        down_bias = d_model
        mlp = mlp + up_bias + down_bias
        if gated:
            gate_bias = d_ff
            mlp = mlp + gate_bias

    one_norm = d_model + d_model
    total = number_of_attentions * attention + mlp + number_of_norms * one_norm
    return total


def gpt2_parameter_count(vocab_size, max_len, d_model, num_blocks):
    token_embedding = vocab_size * d_model
    position_embedding = max_len * d_model
    d_ff = 4 * d_model
    one_block = block_parameter_count(d_model, d_ff)
    all_blocks = num_blocks * one_block
    final_norm = 2 * d_model
    return token_embedding + position_embedding + all_blocks + final_norm


def bert_parameter_count(vocab_size, max_len, type_vocab_size, d_model, d_ff, num_blocks):
    token_embedding = vocab_size * d_model
    position_embedding = max_len * d_model
    type_embedding = type_vocab_size * d_model
    embedding_norm = 2 * d_model
    one_block = block_parameter_count(d_model, d_ff)
    all_blocks = num_blocks * one_block
    pooler_weight = d_model * d_model
    pooler_bias = d_model
    embeddings = token_embedding + position_embedding + type_embedding + embedding_norm
    return embeddings + all_blocks + pooler_weight + pooler_bias


def vit_parameter_count(img_size, patch_size, in_channels, d_model, d_ff, num_blocks, num_classes):
    patches_per_side = img_size // patch_size
    number_of_patches = patches_per_side * patches_per_side
    pixels_per_patch = in_channels * patch_size * patch_size

    patch_weight = pixels_per_patch * d_model
    patch_bias = d_model
    cls_token = d_model
    number_of_tokens = number_of_patches + 1
    position_embedding = number_of_tokens * d_model

    one_block = block_parameter_count(d_model, d_ff)
    all_blocks = num_blocks * one_block

    head_weight = d_model * num_classes
    head_bias = num_classes

    before = patch_weight + patch_bias + cls_token + position_embedding
    after = head_weight + head_bias
    return before + all_blocks + after


def block_forward_flops(batch, seq_len, d_model, d_ff, gated=False):
    tokens = batch * seq_len
    projection = 2 * tokens * d_model * d_model
    four_projections = 4 * projection
    scores = 2 * batch * seq_len * seq_len * d_model
    weighted_values = 2 * batch * seq_len * seq_len * d_model
    mlp_matrix = 2 * tokens * d_model * d_ff
    if gated:
        mlp = 3 * mlp_matrix
    else:
        mlp = 2 * mlp_matrix
    return four_projections + scores + weighted_values + mlp


def kv_cache_bytes(batch, seq_len, num_blocks, num_kv_heads, d_head, bytes_per_element):
    numbers_per_token = num_kv_heads * d_head
    keys = batch * seq_len * num_blocks * numbers_per_token
    values = keys
    return (keys + values) * bytes_per_element
