import torch


def multi_head_attention(
    query,
    key,
    value,
    num_heads,
    weight_q,
    weight_k,
    weight_v,
    weight_o,
    bias_q=None,
    bias_k=None,
    bias_v=None,
    bias_o=None,
    mask=None,
):
    # sizes
    batch = query.shape[0]
    q_len = query.shape[1]
    d_model = query.shape[2]
    k_len = key.shape[1]
    if d_model % num_heads != 0:
        raise ValueError("d_model " + str(d_model) + " can not be divided into " + str(num_heads) + " heads")
    d_head = d_model // num_heads

    # step 1: projections
    q = query @ weight_q.T
    if bias_q is not None:
        q = q + bias_q
    k = key @ weight_k.T
    if bias_k is not None:
        k = k + bias_k
    v = value @ weight_v.T
    if bias_v is not None:
        v = v + bias_v

    # step 2: heads
    q_heads = q.reshape(batch, q_len, num_heads, d_head)
    q_heads = q_heads.transpose(1, 2)
    k_heads = k.reshape(batch, k_len, num_heads, d_head)
    k_heads = k_heads.transpose(1, 2)
    v_heads = v.reshape(batch, k_len, num_heads, d_head)
    v_heads = v_heads.transpose(1, 2)

    # step 3: scores
    k_transposed = k_heads.transpose(2, 3)
    scores = q_heads @ k_transposed
    scores = scores / d_head**0.5

    # step 4: mask and softmax
    if mask is not None:
        not_allowed = torch.logical_not(mask)
        very_small = torch.finfo(scores.dtype).min
        scores = scores.masked_fill(not_allowed, very_small)
    weights = torch.softmax(scores, dim=3)

    # step 5: weighted mean
    heads = weights @ v_heads

    # step 6: put the heads together
    merged = heads.transpose(1, 2)
    merged = merged.reshape(batch, q_len, d_model)

    # step 7: output projection
    result = merged @ weight_o.T
    if bias_o is not None:
        result = result + bias_o
    return result
