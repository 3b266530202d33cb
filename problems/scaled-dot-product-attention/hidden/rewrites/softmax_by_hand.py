"""The softmax by hand: the maximum over the visible keys, exp, a sum that is 1 where a row is empty."""

import torch


def scaled_dot_product_attention(query, key, value, mask=None, scale=None, dropout_p=0.0, is_causal=False):
    scores = torch.matmul(query, key.mT).mul(query.size(-1) ** -0.5 if scale is None else scale)
    if mask is None:
        mask = scores.new_ones(1, dtype=torch.bool)
    if is_causal:
        mask = mask & torch.ones_like(scores, dtype=torch.bool).tril()
    visible = mask.broadcast_to(scores.shape)
    peak = scores.detach().masked_fill(~visible, float("-inf")).amax(-1, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0)
    exponentials = torch.where(visible, scores - peak, float("-inf")).exp()
    total = exponentials.sum(-1, keepdim=True)
    weights = exponentials / torch.where(total == 0, 1, total)
    return torch.matmul(weights, value), weights
