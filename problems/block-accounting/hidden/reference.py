"""Accounting for a transformer block: parameters, operations and cache bytes, as exact ints.

The sizes of a block: Vaswani et al. 2017, "Attention Is All You Need", section 3. GPT-2: Radford et al. 2019, section
2.3. BERT: Devlin et al. 2019, section 3. Vision transformer: Dosovitskiy et al. 2021, section 3.1. Counting operations:
Kaplan et al. 2020, section 2.1.
"""


def linear_parameter_count(in_features, out_features, bias=True):
    weight = out_features * in_features
    if bias:
        return weight + out_features  # a bias is as long as its map's output
    return weight


def layer_norm_parameter_count(d_model):
    return 2 * d_model  # gain and bias


def attention_parameter_count(d_model, bias=True):
    projection = linear_parameter_count(d_model, d_model, bias)  # the heads share it, however many they are
    return 4 * projection  # query, key, value and output


def mlp_parameter_count(d_model, d_ff, gated=False, bias=True):
    maps_into_hidden = 2 if gated else 1
    into_hidden = linear_parameter_count(d_model, d_ff, bias)
    out_of_hidden = linear_parameter_count(d_ff, d_model, bias)
    return maps_into_hidden * into_hidden + out_of_hidden


def block_parameter_count(d_model, d_ff, gated=False, bias=True, cross_attention=False):
    attentions = 2 if cross_attention else 1
    norms = attentions + 1  # one for each sublayer, and the MLP is one more
    attention = attentions * attention_parameter_count(d_model, bias)
    mlp = mlp_parameter_count(d_model, d_ff, gated, bias)
    norm = norms * layer_norm_parameter_count(d_model)
    return attention + mlp + norm


def gpt2_parameter_count(vocab_size, max_len, d_model, num_blocks):
    d_ff = 4 * d_model
    tokens = vocab_size * d_model  # the head uses the same tensor, so it counts once
    positions = max_len * d_model
    blocks = num_blocks * block_parameter_count(d_model, d_ff)
    final_norm = layer_norm_parameter_count(d_model)
    return tokens + positions + blocks + final_norm


def bert_parameter_count(vocab_size, max_len, type_vocab_size, d_model, d_ff, num_blocks):
    rows = vocab_size + max_len + type_vocab_size
    embeddings = rows * d_model
    embedding_norm = layer_norm_parameter_count(d_model)
    blocks = num_blocks * block_parameter_count(d_model, d_ff)
    pooler = linear_parameter_count(d_model, d_model)
    return embeddings + embedding_norm + blocks + pooler


def vit_parameter_count(img_size, patch_size, in_channels, d_model, d_ff, num_blocks, num_classes):
    patches_per_side = img_size // patch_size
    num_patches = patches_per_side**2
    patch_features = in_channels * patch_size**2
    patch_embedding = linear_parameter_count(patch_features, d_model)
    cls_token = d_model
    positions = (num_patches + 1) * d_model  # the cls token has a position, too
    blocks = num_blocks * block_parameter_count(d_model, d_ff)
    final_norm = layer_norm_parameter_count(d_model)
    head = linear_parameter_count(d_model, num_classes)
    return patch_embedding + cls_token + positions + blocks + final_norm + head


def block_forward_flops(batch, seq_len, d_model, d_ff, gated=False):
    tokens = batch * seq_len
    projections = 4 * tokens * d_model * d_model
    scores = batch * seq_len * seq_len * d_model  # every query with every key, over all heads' features
    mixtures = batch * seq_len * seq_len * d_model  # every weight with every value
    mlp_maps = 3 if gated else 2
    mlp = mlp_maps * tokens * d_model * d_ff
    multiply_adds = projections + scores + mixtures + mlp
    return 2 * multiply_adds


def kv_cache_bytes(batch, seq_len, num_blocks, num_kv_heads, d_head, bytes_per_element):
    token = num_kv_heads * d_head
    elements = 2 * batch * seq_len * num_blocks * token  # keys and values
    return elements * bytes_per_element
