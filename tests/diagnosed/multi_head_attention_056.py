import math

import torch
from torch.nn import functional as F


class _Attention:
    """Attention with the heads folded into the batch axis, as in a fused kernel."""

    def __init__(self, *, num_heads, d_model):
        if d_model % num_heads != 0:
            raise ValueError(f"d_model ({d_model}) must be divisible by num_heads ({num_heads})")
        self.num_heads = num_heads
        self.d_head = d_model // num_heads

    def _fold(self, t):
        batch, length, _ = t.shape
        t = t.reshape(batch, length, self.num_heads, self.d_head)
        return t.permute(0, 2, 1, 3).reshape(batch * self.num_heads, length, self.d_head)

    def _unfold(self, t, *, batch):
        length = t.shape[1]
        t = t.reshape(batch, self.num_heads, length, self.d_head)
        return t.permute(0, 2, 1, 3).reshape(batch, length, self.num_heads * self.d_head)

    def _prepare_mask(self, mask, *, batch, q_len, k_len):
        if mask is None:
            return None
        if mask.dim() == 2:
            return mask.expand(q_len, k_len)
        if mask.shape[1] == 1:
            per_sequence = mask[:, 0].expand(batch, q_len, k_len)
            return per_sequence.repeat(self.num_heads, 1, 1)
        mask = mask.expand(batch, self.num_heads, q_len, k_len)
        return mask.reshape(batch * self.num_heads, q_len, k_len)

    def _attend(self, q, k, v, *, mask=None):
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.d_head)
        if mask is None:
            return torch.bmm(scores.softmax(dim=-1), v)
        hidden = ~mask
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1).masked_fill(hidden, 0.0)
        return torch.bmm(weights, v)

    def __call__(self, q, k, v, *, mask=None):
        batch, q_len, _ = q.shape
        mask = self._prepare_mask(mask, batch=batch, q_len=q_len, k_len=k.shape[1])
        out = self._attend(self._fold(q), self._fold(k), self._fold(v), mask=mask)
        return self._unfold(out, batch=batch)


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
    attention = _Attention(num_heads=num_heads, d_model=weight_q.shape[0])
    out = attention(
        F.linear(query, weight_q, bias_q),
        F.linear(key, weight_k, bias_k),
        F.linear(value, weight_v, bias_v),
        mask=mask,
    )
    return F.linear(out, weight_o, bias_o)
