import torch


def attend_with_cache(x, cache, num_heads, weight_q, weight_k, weight_v, weight_o):
    batch = x.shape[0]
    new_len = x.shape[1]
    d_model = x.shape[2]
    if d_model % num_heads != 0:
        raise ValueError("num_heads " + str(num_heads) + " does not divide d_model " + str(d_model))
    d_head = d_model // num_heads

    # projections of the new tokens
    query = torch.matmul(x, weight_q.transpose(0, 1))
    key = torch.matmul(x, weight_k.transpose(0, 1))
    value = torch.matmul(x, weight_v.transpose(0, 1))

    # heads
    query = query.reshape(batch, new_len, num_heads, d_head)
    query = query.transpose(1, 2)
    key = key.reshape(batch, new_len, num_heads, d_head)
    key = key.transpose(1, 2)
    value = value.reshape(batch, new_len, num_heads, d_head)
    value = value.transpose(1, 2)

    # the past and then the new tokens
    if cache is None:
        past_len = 0
        all_keys = key
        all_values = value
    else:
        past_keys = cache[0]
        past_values = cache[1]
        past_len = past_keys.shape[2]
        all_keys = torch.cat([past_keys, key], dim=2)
        all_values = torch.cat([past_values, value], dim=2)
    total_len = past_len + new_len

    # which keys each new token sees
    query_position = torch.arange(new_len, device=x.device)
    query_position = query_position + past_len
    query_position = query_position.reshape(new_len, 1)
    key_position = torch.arange(total_len, device=x.device)
    key_position = key_position.reshape(1, total_len)
    not_seen = key_position > query_position

    scores = torch.matmul(query, all_keys.transpose(2, 3))
    scores = scores / d_head ** 0.5
    scores = scores.masked_fill(not_seen, float("-inf"))
    weights = torch.softmax(scores, dim=3)

    heads = torch.matmul(weights, all_values)
    heads = heads.transpose(1, 2)
    merged = heads.reshape(batch, new_len, d_model)
    output = torch.matmul(merged, weight_o.transpose(0, 1))
    new_cache = (all_values, all_keys)
    return output, new_cache
