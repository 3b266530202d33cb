"""Style: keys and values are never projected: the queries are carried to the keys' width, and the means come back."""

import torch


class Attention:
    def __init__(self, num_heads):
        self.num_heads = num_heads
        self.last_weights = None  # for a look at them

    def chunks(self, parameter):
        return parameter.unflatten(0, (self.num_heads, -1))  # (num_heads, d_head, ...)

    def __call__(self, query, key, value, weights, biases, mask):
        weight_q, weight_k, weight_v, weight_o = weights
        bias_q, bias_k, bias_v, bias_o = biases
        q = (
            query @ weight_q.mT
            if bias_q is None
            else torch.addmm(bias_q, query.flatten(0, 1), weight_q.mT).unflatten(0, query.shape[:2])
        )
        q = q.unflatten(-1, (self.num_heads, -1)).swapaxes(1, 2)  # (batch, num_heads, q_len, d_head)
        q = q / q.shape[-1] ** 0.5
        scores = q @ self.chunks(weight_k) @ key.mT.unsqueeze(1)
        if bias_k is not None:
            scores = scores + q @ self.chunks(bias_k).unsqueeze(-1)
        visible = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
        peak = torch.where(visible, scores, torch.finfo(scores.dtype).min).amax(-1, keepdim=True).detach()
        shares = torch.where(visible, scores - peak, -torch.inf).exp()
        total = shares.sum(-1, keepdim=True)
        shares = shares / total.masked_fill(total == 0, 1)
        self.last_weights = shares.detach()
        heads = shares @ value.unsqueeze(1) @ self.chunks(weight_v).mT
        if bias_v is not None:
            heads = heads + shares.sum(-1, keepdim=True) * self.chunks(bias_v).unsqueeze(-2)
        output = heads.swapaxes(1, 2).flatten(-2) @ weight_o.mT
        return output if bias_o is None else output + bias_o


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
    attention=Attention,
):
    if query.shape[-1] % num_heads:
        raise ValueError(f"{query.shape[-1]} features, {num_heads} heads: they don't divide")
    weights, biases = (weight_q, weight_k, weight_v, weight_o), (bias_q, bias_k, bias_v, bias_o)
    return attention(num_heads)(query, key, value, weights, biases, mask)
