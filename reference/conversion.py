"""Oracle of the conversion from post-norm to pre-norm, on PyTorch's own multi-head attention and layer norm."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

MOVED_LINES = frozenset({"L4", "L8"})
REWIRED_LINES = frozenset({"L1", "L5"})

_PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj")


class EncoderBlock(nn.Module):
    """The encoder block with ReLU in pre-norm order: x + attention(norm1(x)), then x + mlp(norm2(x)).

    Equal to ``nn.TransformerEncoderLayer(norm_first=True)`` whose dropout inside the attention and after ReLU is
    switched off; a token that may attend to nothing gets the bias of ``o_proj``. Source: Xiong et al. 2020
    (arXiv 2002.04745), figure 1(b). ValueError where ``num_heads`` does not divide ``d_model``.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}")
        self.num_heads = num_heads
        self.p = dropout
        self.norm1 = nn.LayerNorm(d_model, eps=1e-5)
        self.attention = nn.ModuleDict({name: nn.Linear(d_model, d_model) for name in _PROJECTIONS})
        self.norm2 = nn.LayerNorm(d_model, eps=1e-5)
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x (batch, seq_len, d_model), mask boolean or None, True = may attend; gives (batch, seq_len, d_model)."""
        x = x + F.dropout(self._attend(self.norm1(x), mask), self.p, self.training)
        return x + F.dropout(self._transform(self.norm2(x)), self.p, self.training)

    def _attend(self, x: Tensor, mask: Tensor | None) -> Tensor:
        batch, seq_len, d_model = x.shape
        query, key, value, out = (self.attention[name] for name in _PROJECTIONS)
        if mask is not None:  # PyTorch's own: True = may not attend, batch and heads in one axis
            hidden = ~mask.expand(batch, self.num_heads, seq_len, seq_len)
            mask = hidden.reshape(batch * self.num_heads, seq_len, seq_len)
        time_first = x.transpose(0, 1)
        output, _ = F.multi_head_attention_forward(
            *(time_first, time_first, time_first, d_model, self.num_heads),
            in_proj_weight=None,
            in_proj_bias=torch.cat([query.bias, key.bias, value.bias]),
            bias_k=None,
            bias_v=None,
            add_zero_attn=False,
            dropout_p=0.0,
            out_proj_weight=out.weight,
            out_proj_bias=out.bias,
            training=self.training,
            need_weights=False,  # with weights, a token that may attend to nothing would be NaN
            attn_mask=mask,
            use_separate_proj_weight=True,
            q_proj_weight=query.weight,
            k_proj_weight=key.weight,
            v_proj_weight=value.weight,
        )
        return output.transpose(0, 1)

    def _transform(self, x: Tensor) -> Tensor:
        return self.mlp["fc2"](F.relu(self.mlp["fc1"](x)))
