"""Accounting for a block: parameters, operations and cache bytes as exact Python ints."""


def attention_parameter_count(d_model, bias=True):
    """Return the parameters of the query, key, value and output projections as an int."""
    raise NotImplementedError


def block_parameter_count(d_model, d_ff, gated=False, bias=True, cross_attention=False):
    """Return the parameters of a block's attention, MLP and layer norms as an int.

    ``bias`` is for the linear maps only. With ``cross_attention`` the block has a second attention and a third norm.
    """
    raise NotImplementedError


def gpt2_parameter_count(vocab_size, max_len, d_model, num_blocks):
    """Return the parameters of a GPT-2 as an int: d_ff is 4 * d_model, the head is the token embedding."""
    raise NotImplementedError


def bert_parameter_count(vocab_size, max_len, type_vocab_size, d_model, d_ff, num_blocks):
    """Return the parameters of a BERT with its pooler and without a task's head as an int."""
    raise NotImplementedError


def vit_parameter_count(img_size, patch_size, in_channels, d_model, d_ff, num_blocks, num_classes):
    """Return the parameters of a vision transformer with its linear head as an int; images and patches are square."""
    raise NotImplementedError


def block_forward_flops(batch, seq_len, d_model, d_ff, gated=False):
    """Return the operations of one block's forward pass as an int: 2 for each multiply-add, matrix products only."""
    raise NotImplementedError


def kv_cache_bytes(batch, seq_len, num_blocks, num_kv_heads, d_head, bytes_per_element):
    """Return the bytes that the keys and values of all blocks take as an int."""
    raise NotImplementedError
