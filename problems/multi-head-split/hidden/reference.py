"""Heads as consecutive chunks of the features (Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2)."""


def split_heads(x, num_heads):
    batch, seq_len, d_model = x.shape
    if d_model % num_heads != 0:
        raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}; all heads have one width")
    d_head = d_model // num_heads
    # Only the last axis is cut: memory keeps its order, so a chunk stays what it was, consecutive features of a token.
    chunks = x.reshape(batch, seq_len, num_heads, d_head)
    return chunks.transpose(1, 2)  # (batch, num_heads, seq_len, d_head)


def merge_heads(x):
    batch, num_heads, seq_len, d_head = x.shape
    chunks = x.transpose(1, 2)  # (batch, seq_len, num_heads, d_head)
    # Not a view: the two last axes lie apart in memory unless x is itself a transpose.
    return chunks.reshape(batch, seq_len, num_heads * d_head)
