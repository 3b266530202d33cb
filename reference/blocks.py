"""Oracle: transformer blocks on PyTorch's own attention, normalization and activation."""

import torch
from torch import nn
from torch.nn import functional as F


class PreNormBlock(nn.Module):
    """The pre-norm block of ViT and GPT: x + attention(norm1(x)), then x + mlp(norm2(x)).

    Equal to ``nn.TransformerEncoderLayer(norm_first=True, activation="gelu")`` in evaluation, except that a query
    which may attend to nothing adds only the bias of ``o_proj``. Sources: Xiong et al. 2020, figure 1(b);
    Dosovitskiy et al. 2021, equations 2 and 3. Dropout acts on the attention weights, after GELU and after fc2.
    """

    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} is no multiple of num_heads {num_heads}")
        self.num_heads = num_heads
        self.dropout = dropout
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = nn.ModuleDict(
            {name: nn.Linear(d_model, d_model) for name in ("q_proj", "k_proj", "v_proj", "o_proj")}
        )
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})

    def forward(self, x, mask=None):
        """x (batch, seq_len, d_model), mask boolean or None, True = may attend; gives (batch, seq_len, d_model)."""
        x = x + self._attend(_layer_norm(self.norm1, x), mask)
        return x + self._transform(_layer_norm(self.norm2, x))

    def _attend(self, x, mask):
        query, key, value = (
            self.attention[name](x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # (batch, heads, seq, d_head)
            for name in ("q_proj", "k_proj", "v_proj")
        )
        dropout = self.dropout if self.training else 0.0
        heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)
        return self.attention["o_proj"](heads.transpose(1, 2).flatten(2))

    def _transform(self, x):
        hidden = F.dropout(F.gelu(self.mlp["fc1"](x)), self.dropout, self.training)
        return F.dropout(self.mlp["fc2"](hidden), self.dropout, self.training)


def _layer_norm(norm: nn.LayerNorm, x: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, eps=1e-5)


class AddNorm(nn.Module):
    """What stands around each sublayer of a post-norm block: LayerNorm(x + dropout(sublayer_output)).

    Vaswani et al. 2017, "Attention Is All You Need" (arXiv 1706.03762), sections 3.1 and 5.4.
    """

    def __init__(self, d_model, dropout=0.0):
        super().__init__()
        self.dropout = dropout
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, sublayer_output):
        """x and sublayer_output (..., d_model); gives (..., d_model). ValueError for different shapes."""
        if x.size() != sublayer_output.size():
            raise ValueError(f"x {tuple(x.shape)} and sublayer_output {tuple(sublayer_output.shape)} differ in shape")
        return _layer_norm(self.norm, x + F.dropout(sublayer_output, self.dropout, self.training))


class TransformerEncoderBlock(nn.Module):
    """The post-norm block of the original encoder: y = addnorm1(x, attention(x)), then addnorm2(y, ffn(y)).

    Equal to ``nn.TransformerEncoderLayer(norm_first=False, activation="relu")`` in evaluation, except that a query
    which may attend to nothing adds only the bias of ``o_proj``. Vaswani et al. 2017 (arXiv 1706.03762), section 3.1;
    Prince, "Understanding Deep Learning", equation 12.13. Dropout acts on the attention weights and in each AddNorm.
    """

    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} is no multiple of num_heads {num_heads}")
        self.num_heads = num_heads
        self.dropout = dropout
        self.attention = nn.ModuleDict(
            {name: nn.Linear(d_model, d_model) for name in ("q_proj", "k_proj", "v_proj", "o_proj")}
        )
        self.addnorm1 = AddNorm(d_model, dropout)
        self.ffn = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x, mask=None):
        """x (batch, seq_len, d_model), mask boolean or None, True = may attend; gives (batch, seq_len, d_model)."""
        query, key, value = (
            self.attention[name](x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # (batch, heads, seq, d_head)
            for name in ("q_proj", "k_proj", "v_proj")
        )
        dropout = self.dropout if self.training else 0.0
        heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)
        y = self.addnorm1(x, self.attention["o_proj"](heads.transpose(1, 2).flatten(2)))
        return self.addnorm2(y, self.ffn["fc2"](F.relu(self.ffn["fc1"](y))))
