"""PyTorch's signature: further arguments, and masks and leading axes that the contract does not ask for."""
# style: takes further arguments after scale, and accepts masks of numbers and other misfits

import torch


def scaled_dot_product_attention(query, key, value, mask=None, scale=None, dropout_p=0.0, is_causal=False):
    query, key, value = (part.unsqueeze(0) for part in (query, key, value))
    share = abs(query.size(-1) ** -0.5 if scale is None else scale) ** 0.5
    sign = -1 if scale is not None and scale < 0 else 1
    scores = (query * (share * sign)) @ (key * share).transpose(-2, -1)
    bias = torch.zeros_like(scores)
    if mask is not None:
        bias = bias.masked_fill(~mask.bool(), torch.finfo(scores.dtype).min)
    if is_causal:
        bias = bias.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), torch.finfo(scores.dtype).min)
    hidden = bias.bool()
    weights = (scores.masked_fill(hidden, 0) + bias).softmax(-1).masked_fill(hidden, 0)
    weights = torch.nn.functional.dropout(weights, dropout_p) if dropout_p else weights
    return (weights @ value).squeeze(0), weights.squeeze(0)
