"""Style: sublayers as lambdas of one add and norm, joined projections, PyTorch's fused attention with is_causal."""

import torch
from torch import nn
from torch.nn import functional as F


class WidthError(ValueError):
    """A width that does not fit."""


class AddNorm(nn.Sequential):
    """Dropout and norm as entries of a sequence that is applied in two steps."""

    def __init__(self, d_model, dropout):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, sublayer):
        return self.norm(torch.add(self.drop(sublayer(x)), x))


class Attention(nn.ModuleDict):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__({f"{name}_proj": nn.Linear(d_model, d_model) for name in "qkvo"})
        self.heads, self.p = num_heads, dropout

    def joined(self, names, x):
        maps = [self[f"{name}_proj"] for name in names]
        weight, bias = torch.cat([m.weight for m in maps]), torch.cat([m.bias for m in maps])
        return F.linear(x, weight, bias).unflatten(-1, (len(names), self.heads, -1)).permute(2, 0, 3, 1, 4)

    def forward(self, x, memory=None, **kwargs):
        if memory is None:
            q, k, v = self.joined("qkv", x)
        else:
            (q,), (k, v) = self.joined("q", x), self.joined("kv", memory)
        attended = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p * self.training, **kwargs)
        return self["o_proj"](attended.transpose(1, 2).flatten(2))


class TransformerDecoderBlock(nn.Module):
    def __init__(self, d_model: int, d_ff: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % num_heads:
            raise WidthError(f"{num_heads} heads do not fit into {d_model} features")
        self.self_attention = Attention(d_model, num_heads, dropout)
        self.cross_attention = Attention(d_model, num_heads, dropout)
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(d_model, dropout) for _ in range(3))
        self.ffn = nn.Sequential()
        self.ffn.add_module("fc1", nn.Linear(d_model, d_ff))
        self.ffn.add_module("act", nn.ReLU(inplace=True))
        self.ffn.add_module("fc2", nn.Linear(d_ff, d_model))

    def forward(
        self,
        x: torch.Tensor,
        encoder_output: torch.Tensor,
        self_mask: torch.Tensor | None = None,
        cross_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        width = encoder_output.size(-1)
        if width != x.size(-1):
            raise WidthError(f"the encoder's width {width} is not the decoder's {x.size(-1)}")
        own = {"is_causal": True}
        if self_mask is not None:
            steps = torch.arange(x.size(1), device=x.device)
            own = {"attn_mask": torch.logical_and(self_mask, steps[:, None] >= steps)}
        y = self.addnorm1(x, lambda stream: self.self_attention(stream, **own))
        z = self.addnorm2(y, lambda stream: self.cross_attention(stream, encoder_output, attn_mask=cross_mask))
        return self.addnorm3(z, self.ffn)
