"""Style: einsum over weights that are viewed as heads, minus infinity and nan_to_num, in float32 for bfloat16."""

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
    *,
    dropout=0.0,
):
    dtype = query.dtype
    wide = torch.promote_types(dtype, torch.float32)
    width, rest = divmod(weight_q.size(0), num_heads)
    if rest:
        raise ValueError(f"weight_q has {weight_q.size(0)} rows, which is no multiple of {num_heads}")

    def project(x, weight, bias):
        heads = torch.einsum("bte,hde->bhtd", x.to(wide), weight.to(wide).reshape(num_heads, width, -1))
        return heads if bias is None else heads.add(bias.to(wide).reshape(num_heads, 1, width))

    q, k, v = project(query, weight_q, bias_q), project(key, weight_k, bias_k), project(value, weight_v, bias_v)
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k).mul_(width**-0.5)
    if mask is not None:
        scores.masked_fill_(torch.logical_not(mask), float("-inf"))
    weights = scores.softmax(-1).nan_to_num(0.0)
    heads = torch.einsum("bhqk,bhkd->bqhd", weights, v)
    output = torch.einsum("bqhd,ohd->bqo", heads, weight_o.to(wide).reshape(-1, num_heads, width))
    if bias_o is not None:
        output += bias_o.to(wide)
    return output.to(dtype)
