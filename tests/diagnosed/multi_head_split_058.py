def split_heads(x, num_heads):
    batch = x.shape[0]
    seq_len = x.shape[1]
    d_model = x.shape[2]

    remainder = d_model % num_heads
    if remainder != 0:
        message = "d_model is " + str(d_model) + " and that is not divisible by num_heads " + str(num_heads)
        raise ValueError(message)

    d_head = d_model // num_heads
    chunks = x.reshape(batch, seq_len, num_heads, d_head)
    heads = chunks.permute(2, 0, 1, 3)
    return heads


def merge_heads(x):
    batch = x.shape[0]
    num_heads = x.shape[1]
    seq_len = x.shape[2]
    d_head = x.shape[3]

    tokens_first = x.permute(0, 2, 1, 3)
    d_model = num_heads * d_head
    merged = tokens_first.reshape(batch, seq_len, d_model)
    return merged
