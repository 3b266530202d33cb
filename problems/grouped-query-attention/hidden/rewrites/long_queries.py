"""Style: a group's query heads one after the other as one long row of queries, so that each key head is used once."""

import torch


def grouped_query_attention(*args, **kwargs):
    return _Grouped(*args[1:3], **{k: v for k, v in kwargs.items() if k.startswith("num_")})(
        *args[:1], *args[3:], **{k: v for k, v in kwargs.items() if not k.startswith("num_")}
    )


class _Grouped:
    def __init__(self, num_heads, num_kv_heads):
        if num_heads // num_kv_heads * num_kv_heads != num_heads:
            raise ValueError(f"num_kv_heads = {num_kv_heads} is no divisor of num_heads = {num_heads}")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads

    def __call__(self, x, weight_q, weight_k, weight_v, weight_o, mask=None):
        batch, length, width = x.shape
        if width % self.num_heads:
            raise ValueError(f"num_heads = {self.num_heads} is no divisor of d_model = {width}")
        d_head = width // self.num_heads
        q = torch.matmul(x, weight_q.t()).view(batch, length, self.num_heads, d_head)
        q = q.transpose(1, 2).reshape(batch, self.num_kv_heads, -1, d_head)  # (batch, groups, members * length, d_head)
        k = torch.matmul(x, weight_k.t()).view(batch, length, self.num_kv_heads, d_head).permute(0, 2, 3, 1)
        v = torch.matmul(x, weight_v.t()).view(batch, length, self.num_kv_heads, d_head).transpose(1, 2)
        scores = torch.matmul(q, k).div_(d_head**0.5)
        if mask is not None:
            closed = mask.expand(batch, self.num_heads, length, length).reshape(scores.shape).logical_not()
            scores.masked_fill_(closed, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(closed, 0)
        merged = torch.matmul(weights, v).view(batch, self.num_heads, length, d_head).transpose(1, 2).flatten(2)
        return torch.matmul(merged, weight_o.t())
