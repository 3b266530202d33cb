"""Style: one class, fused projections by concatenation, fused attention, dropout as a function, answers as sets."""

import torch
import torch.nn.functional as F
from torch import nn

MOVED_LINES = {"L8", "L4"}
REWIRED_LINES = frozenset(("L5", "L1"))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, *, eps=1e-5):
        super().__init__()
        d_head, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"d_model={d_model} does not split into num_heads={num_heads} equal heads")
        self.heads, self.d_head, self.p, self.eps = num_heads, d_head, dropout, eps
        self.norm1, self.norm2 = nn.LayerNorm(d_model, eps), nn.LayerNorm(d_model, eps)
        linears = {f"{name}_proj": nn.Linear(d_model, d_model) for name in "qkvo"}
        self.attention = nn.ModuleDict(linears)
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})

    def forward(self, x, mask=None, need_stream=False):
        between = x + self._drop(self._attend(self._norm(self.norm1, x), mask))
        after = between + self._drop(self._transform(self._norm(self.norm2, between)))
        return (after, between) if need_stream else after

    def _norm(self, norm, x):
        return F.layer_norm(x, x.shape[-1:], norm.weight, norm.bias, self.eps)

    def _drop(self, branch):
        return F.dropout(branch, self.p, self.training)

    def _attend(self, x, mask):
        parts = [self.attention[name] for name in ("q_proj", "k_proj", "v_proj")]
        weight, bias = torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts])
        fused = F.linear(x, weight, bias).view(*x.shape[:2], 3, self.heads, self.d_head)
        query, key, value = fused.permute(2, 0, 3, 1, 4)
        heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.attention["o_proj"](heads.permute(0, 2, 1, 3).reshape(x.shape))

    def _transform(self, x):
        return self.mlp["fc2"](F.relu(self.mlp["fc1"](x), inplace=True))
