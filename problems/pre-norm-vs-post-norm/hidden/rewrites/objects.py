"""Style: a block is an object; float64 inside, errors of its own (subclasses), further optional arguments."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor


class DepthError(ValueError):
    """A stack can't be that deep."""


class WidthError(ValueError):
    """The heads don't fit the width."""


class Linear(NamedTuple):
    weight: Tensor
    bias: Tensor

    def __call__(self, x):
        tokens = x.flatten(0, -2)
        return torch.addmm(self.bias.to(x.dtype), tokens, self.weight.to(x.dtype).t()).unflatten(0, x.shape[:-1])


class Norm(NamedTuple):
    gamma: Tensor
    beta: Tensor
    eps: float

    def __call__(self, x):
        scores = (x - x.mean(-1, True)) / torch.sqrt(torch.var(x, -1, correction=0, keepdim=True) + self.eps)
        return torch.addcmul(self.beta.to(x.dtype), scores, self.gamma.to(x.dtype))


@dataclass(frozen=True)
class Block:
    num_heads: int
    project: Linear
    widen: Linear
    narrow: Linear
    norm1: Norm
    norm2: Norm
    mask: Tensor | None

    def attend(self, x):
        width = x.shape[-1]
        if width % self.num_heads:
            raise WidthError(f"{self.num_heads} heads can't share {width} features")
        size = width // self.num_heads
        heads = torch.stack(x.split(size, dim=-1), dim=1)  # (batch, num_heads, seq_len, d_head)
        scores = (heads.unsqueeze(-2) * heads.unsqueeze(-3)).sum(-1) / size**0.5
        if self.mask is not None:
            scores = scores.masked_fill(~self.mask, -1e9)
        weights = scores.log_softmax(-1).exp()
        if self.mask is not None:
            weights = weights * self.mask
        mixed = (weights.unsqueeze(-1) * heads.unsqueeze(-3)).sum(-2)
        return self.project(torch.cat(mixed.unbind(1), dim=-1))

    def feed(self, x):
        return self.narrow(torch.nn.functional.gelu(self.widen(x)))

    def pre(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.feed(self.norm2(x))

    def post(self, x):
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.feed(x))


def build(num_heads, weight_o, bias_o, w1, b1, w2, b2, gamma1, beta1, gamma2, beta2, mask, eps):
    norms = Norm(gamma1, beta1, eps), Norm(gamma2, beta2, eps)
    return Block(num_heads, Linear(weight_o, bias_o), Linear(w1, b1), Linear(w2, b2), *norms, mask)


def pre_norm_transformer_block_forward(
    x,
    num_heads,
    weight_o,
    bias_o,
    ffn_weight1,
    ffn_bias1,
    ffn_weight2,
    ffn_bias2,
    gamma1,
    beta1,
    gamma2,
    beta2,
    mask=None,
    eps=1e-5,
    inner_dtype=torch.float64,
):
    linear = weight_o, bias_o, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2
    block = build(num_heads, *linear, gamma1, beta1, gamma2, beta2, mask, eps)
    return block.pre(x.to(inner_dtype)).to(x.dtype)


def post_norm_transformer_block_forward(
    x,
    num_heads,
    weight_o,
    bias_o,
    ffn_weight1,
    ffn_bias1,
    ffn_weight2,
    ffn_bias2,
    gamma1,
    beta1,
    gamma2,
    beta2,
    mask=None,
    eps=1e-5,
    inner_dtype=torch.float64,
):
    linear = weight_o, bias_o, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2
    block = build(num_heads, *linear, gamma1, beta1, gamma2, beta2, mask, eps)
    return block.post(x.to(inner_dtype)).to(x.dtype)


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks, block=pre_norm_transformer_block_forward):
    if num_blocks < 0:
        raise DepthError(f"a stack of {num_blocks} blocks")
    arguments = dict(block_params)
    for _ in range(num_blocks):
        x = block(x, num_heads, **arguments)
    return x


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks, block=post_norm_transformer_block_forward):
    return stack_pre_norm_blocks(x, num_heads, block_params, num_blocks, block)
