"""Style: a loop over the new tokens, each appended and then looking at all there is; no mask; NamedTuples."""

from typing import NamedTuple

import torch


class Cache(NamedTuple):
    keys: torch.Tensor
    values: torch.Tensor


class Step(NamedTuple):
    output: torch.Tensor
    cache: Cache


def attend_with_cache(x, cache, num_heads, weight_q, weight_k, weight_v, weight_o):
    d_head, rest = divmod(x.size(-1), num_heads)
    if rest:
        raise ValueError(f"{x.size(-1)} features can't be shared by {num_heads} heads")
    outputs = []
    for token in x.unbind(1):
        q, k, v = (
            (token @ weight.T).unflatten(-1, (num_heads, 1, d_head)) for weight in (weight_q, weight_k, weight_v)
        )
        cache = (
            Cache(k, v) if cache is None else Cache(*(torch.cat(pair, -2) for pair in zip(cache, (k, v), strict=True)))
        )
        shares = torch.softmax((cache.keys * q).sum(-1) / d_head**0.5, dim=-1)
        outputs.append((shares.unsqueeze(-1) * cache.values).sum(-2).flatten(-2) @ weight_o.T)
    return Step(torch.stack(outputs, 1), cache)
