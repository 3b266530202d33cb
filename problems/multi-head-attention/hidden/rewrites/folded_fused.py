"""Style: heads folded into the batch, PyTorch's fused attention on three axes, the mask repeated for each head."""

import torch
import torch.nn.functional as F


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
    batch, q_len, d_model = query.size()
    if d_model != d_model // num_heads * num_heads:
        raise ValueError(f"num_heads = {num_heads} is no divisor of d_model = {d_model}")

    def fold(x):
        return x.view(batch, -1, num_heads, d_model // num_heads).transpose(1, 2).flatten(0, 1)

    if mask is not None and mask.dim() == 4:
        mask = mask.expand(batch, num_heads, -1, -1).reshape(batch * num_heads, *mask.shape[2:])
    heads = F.scaled_dot_product_attention(
        fold(F.linear(query, weight_q, bias_q)),
        fold(F.linear(key, weight_k, bias_k)),
        fold(F.linear(value, weight_v, bias_v)),
        attn_mask=None if mask is None else mask.expand(*mask.shape[:-2], q_len, key.size(1)),
    )
    merged = torch.cat(heads.unflatten(0, (batch, num_heads)).unbind(1), dim=-1)
    return F.linear(merged, weight_o, bias_o)
