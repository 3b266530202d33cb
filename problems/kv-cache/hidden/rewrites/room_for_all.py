"""Style: buffers of the final length that old and new are written into, a hand-made softmax in float32 or better."""

import math

import torch


class CachedAttention:
    def __init__(self, num_heads):
        self.num_heads = num_heads
        self.shares = None  # of the last call, for a look at them

    def project(self, x, weight):
        return torch.matmul(x, weight.t()).reshape(*x.shape[:2], self.num_heads, -1).permute(0, 2, 1, 3)

    def extend(self, old, new):
        start = 0 if old is None else old.shape[2]
        room = new.new_zeros(new.shape[0], self.num_heads, start + new.shape[2], new.shape[3])
        if old is not None:
            room[:, :, :start] = old
        room[:, :, start:] = new
        return room

    def __call__(self, x, cache, weight_q, weight_k, weight_v, weight_o):
        old_keys, old_values = cache or (None, None)
        q = self.project(x, weight_q)
        keys = self.extend(old_keys, self.project(x, weight_k))
        values = self.extend(old_values, self.project(x, weight_v))
        scores = (q @ keys.mT).to(torch.promote_types(x.dtype, torch.float32)) / math.sqrt(q.shape[-1])
        new_len, k_len = scores.shape[-2:]
        visible = torch.ones(new_len, k_len, device=x.device, dtype=torch.bool).tril(diagonal=k_len - new_len)
        shares = torch.where(visible, scores - scores.amax(-1, keepdim=True).detach(), -math.inf).exp()
        shares = shares / shares.sum(-1, keepdim=True)
        self.shares = shares.detach()
        merged = (shares.to(x.dtype) @ values).permute(0, 2, 1, 3).reshape(x.shape)
        return torch.matmul(merged, weight_o.t()), (keys, values)


def attend_with_cache(x, cache, num_heads, weight_q, weight_k, weight_v, weight_o):
    if x.shape[2] != x.shape[2] // num_heads * num_heads:
        raise ValueError(f"got d_model {x.shape[2]} and num_heads {num_heads}: heads of one width are needed")
    return CachedAttention(num_heads)(x, cache, weight_q, weight_k, weight_v, weight_o)
