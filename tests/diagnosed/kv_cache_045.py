import math

import torch


def attend_with_cache(x, cache, num_heads, weight_q, weight_k, weight_v, weight_o):
    batch, new_len, d_model = x.shape
    if d_model % num_heads != 0:
        raise ValueError(f"d_model = {d_model} can't be divided among num_heads = {num_heads}")
    d_head = d_model // num_heads

    def cut(t):
        return torch.stack([t[:, :, h * d_head:(h + 1) * d_head] for h in range(num_heads)], dim=1)

    queries, keys, values = cut(x @ weight_q.T), cut(x @ weight_k.T), cut(x @ weight_v.T)
    if new_len == 1 or cache is not None:
        past_keys, past_values = cache
        keys = torch.cat([past_keys, keys], dim=2)
        values = torch.cat([past_values, values], dim=2)
    past_len = keys.shape[2] - new_len

    heads = []
    for h in range(num_heads):
        rows = []
        for i in range(new_len):
            seen = past_len + i + 1
            query = queries[:, h, i].unsqueeze(1)
            scores = query @ keys[:, h, :seen].transpose(1, 2) / math.sqrt(d_head)
            rows.append(torch.softmax(scores, dim=-1) @ values[:, h, :seen])
        heads.append(torch.cat(rows, dim=1))
    return torch.cat(heads, dim=-1) @ weight_o.T, (keys, values)
