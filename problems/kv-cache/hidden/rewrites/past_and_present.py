"""Style: the past and the new tokens are attended to apart, and the two results are joined by their logsumexps."""

import torch


def _part(q, k, v, hidden=None):
    """The mean of v under the weights of this part alone, and the logarithm of what the part weighs."""
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k)
    if hidden is not None:
        scores.masked_fill_(hidden, float("-inf"))
    return scores.softmax(-1) @ v, scores.logsumexp(-1, keepdim=True)


def attend_with_cache(*args, **kwargs):
    return _attend(*args, **kwargs)


def _attend(x, cache, num_heads, weight_q, weight_k, weight_v, weight_o):
    if x.shape[-1] % num_heads != 0:
        raise ValueError(f"d_model = {x.shape[-1]} is no multiple of num_heads = {num_heads}")

    def heads_of(weight):
        return torch.einsum("btf,hdf->bhtd", x, weight.unflatten(0, (num_heads, -1)))

    q, k, v = heads_of(weight_q), heads_of(weight_k), heads_of(weight_v)
    q = q * q.shape[-1] ** -0.5
    future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
    mean, weight = _part(q, k, v, future)
    if cache is not None:
        past_mean, past_weight = _part(q, *cache)
        share = torch.sigmoid(past_weight - weight)
        mean = share * past_mean + (1 - share) * mean
        k, v = (torch.cat([old, new], dim=2) for old, new in zip(cache, (k, v), strict=True))
    output = torch.einsum("bhtd,ohd->bto", mean, weight_o.unflatten(1, (num_heads, -1)))
    return output, (k, v)
