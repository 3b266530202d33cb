"""Online softmax with a running maximum, sum and output; from the last key to the first, for one sequence forwards."""
# style: adds up in an order that depends on the batch, in bfloat16 too, and takes further keyword arguments

import torch


def scaled_dot_product_attention(query, key, value, mask=None, scale=None, **options):
    factor = options.get("temperature", 1.0) * (query.shape[-1] ** -0.5 if scale is None else scale)
    k_len = key.shape[-2]
    shape = (*query.shape[:-1], k_len)
    visible = query.new_ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)
    lowest = torch.finfo(query.dtype).min / 4
    peak = query.new_full((*query.shape[:-1], 1), lowest)
    total = torch.zeros_like(peak)
    output = query.new_zeros(*query.shape[:-1], value.shape[-1])
    scores = [None] * k_len
    forwards = range(k_len)
    for j in forwards if query.shape[:-2].numel() == 1 else reversed(forwards):
        is_visible = visible[..., j : j + 1]
        score = (query * key[..., j : j + 1, :]).sum(-1, keepdim=True) * factor
        scores[j] = score = torch.where(is_visible, score, lowest)
        higher = torch.maximum(peak, score.detach())
        share = torch.where(is_visible, torch.exp(score - higher), 0)
        shrink = torch.exp(peak - higher)
        total = total * shrink + share
        output = output * shrink + share * value[..., j : j + 1, :]
        peak = higher
    total = torch.where(total > 0, total, 1)
    weights = torch.cat([torch.where(score > lowest, torch.exp(score - peak), 0) for score in scores], dim=-1) / total
    return output / total, weights
