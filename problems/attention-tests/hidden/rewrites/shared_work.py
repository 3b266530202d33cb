"""Leading axes along which nothing changes are computed once, if nobody asks for gradients."""
# style: gives expanded results, several rows in the same memory, where its arguments are expanded

import torch


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    leading = query.shape[:-2]
    if torch.is_grad_enabled() and (query.requires_grad or key.requires_grad or value.requires_grad):
        return _attend(query, key, value, mask, scale)
    for axis in range(-len(leading) - 2, -2):
        rows = [part for part in (query, key, value) if part.shape[axis] > 1]
        if all(part.stride(axis) == 0 for part in rows) and _is_constant(mask, axis):
            query, key, value = (part.narrow(axis, 0, 1) for part in (query, key, value))
            mask = mask if mask is None or mask.dim() < -axis else mask.narrow(axis, 0, 1)
    output, weights = _attend(query, key, value, mask, scale)
    return output.expand(*leading, *output.shape[-2:]), weights.expand(*leading, *weights.shape[-2:])


def _is_constant(mask, axis):
    return mask is None or mask.dim() < -axis or mask.shape[axis] == 1 or mask.stride(axis) == 0


def _attend(query, key, value, mask, scale):
    scores = query.matmul(key.mT)
    scores = scores / query.shape[-1] ** 0.5 if scale is None else scores * scale
    if mask is None:
        weights = scores.softmax(-1)
    else:
        visible = mask.expand_as(scores)
        peak = scores.detach().masked_fill(~visible, -torch.inf).amax(-1, keepdim=True)
        peak = peak.masked_fill(peak == -torch.inf, 0)
        shares = torch.where(visible, scores - peak, -torch.inf).exp()
        total = shares.sum(-1, keepdim=True)
        weights = shares / total.masked_fill(total == 0, 1)
    return weights.matmul(value), weights
