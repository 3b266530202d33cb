"""Style: a loop over query heads that looks up its group's rows of the weights and adds up the projected results."""

import torch


class HeadCountError(ValueError):
    pass


def grouped_query_attention(x, num_heads, num_kv_heads, weight_q, weight_k, weight_v, weight_o, mask=None):
    batch, seq_len, d_model = x.shape
    for large, small in ((d_model, num_heads), (num_heads, num_kv_heads)):
        if large % small:
            raise HeadCountError(f"{small} does not divide {large}")
    d_head = d_model // num_heads
    shape = (batch, num_heads, seq_len, seq_len)
    visible = x.new_ones(shape, dtype=torch.bool) if mask is None else mask.broadcast_to(shape)
    output = torch.zeros_like(x)
    for head in range(num_heads):
        own = slice(head * d_head, (head + 1) * d_head)
        shared_head = next(g for g in range(num_kv_heads) if head * num_kv_heads < (g + 1) * num_heads)
        shared = slice(shared_head * d_head, (shared_head + 1) * d_head)
        q, k, v = x @ weight_q[own].T, x @ weight_k[shared].T, x @ weight_v[shared].T
        scores = torch.bmm(q, k.transpose(1, 2)) / d_head**0.5
        seen = visible[:, head]
        peak = torch.where(seen, scores, torch.finfo(x.dtype).min).amax(-1, keepdim=True).detach()
        shares = torch.where(seen, scores - peak, -torch.inf).exp()
        total = shares.sum(-1, keepdim=True)
        output += torch.bmm(shares / torch.where(total > 0, total, 1), v) @ weight_o[:, own].T
    return output
