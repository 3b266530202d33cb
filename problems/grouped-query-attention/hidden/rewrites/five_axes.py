"""Style: five axes, never a copy of a key: queries as (key head, member of the group), the rest by broadcasting."""

import torch


def grouped_query_attention(
    x, num_heads, num_kv_heads, weight_q, weight_k, weight_v, weight_o, mask=None, *, scale=None
):
    members, rest = divmod(num_heads, num_kv_heads)
    width, left = divmod(x.size(-1), num_heads)
    if rest or left:
        raise ValueError(f"{x.size(-1)} features, {num_heads} query heads, {num_kv_heads} key heads: they don't divide")
    q = (x @ weight_q.mT).unflatten(-1, (num_kv_heads, members, width))
    k = (x @ weight_k.mT).unflatten(-1, (num_kv_heads, width))
    v = (x @ weight_v.mT).unflatten(-1, (num_kv_heads, width))
    scores = torch.einsum("bqgmd,bkgd->bgmqk", q, k) * (width**-0.5 if scale is None else scale)
    if mask is not None:
        full = mask.expand(x.size(0), num_heads, x.size(1), x.size(1))
        scores = scores.masked_fill(~full.unflatten(1, (num_kv_heads, members)), -torch.inf)
    weights = torch.nan_to_num(scores.softmax(-1))
    merged = torch.einsum("bgmqk,bkgd->bqgmd", weights, v).flatten(-3)
    return merged @ weight_o.mT
