import torch
from torch.nn import functional as F


def to_heads(t, num_heads):
    return t.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def append(cache, keys, values):
    if cache is None:
        return keys, values
    return torch.cat((cache[0], keys), dim=2), torch.cat((cache[1], values), dim=2)


def visible(new_len, total, device):
    queries = torch.arange(total - new_len, total, device=device)
    return torch.arange(total, device=device) <= queries[:, None]


def attend_with_cache(x, cache, num_heads, weight_q, weight_k, weight_v, weight_o):
    if x.shape[-1] % num_heads:
        raise ValueError(f"num_heads {num_heads} does not divide d_model {x.shape[-1]}")
    q, k, v = (to_heads(F.linear(x, w), num_heads) for w in (weight_q, weight_k, weight_v))
    keys, values = append(cache, k, v)
    scores = q @ keys.transpose(-1, -2)
    mask = visible(x.shape[1], keys.shape[2], x.device)
    weights = F.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    merged = (weights @ values).transpose(1, 2).flatten(2)
    return F.linear(merged, weight_o), (keys, values)
