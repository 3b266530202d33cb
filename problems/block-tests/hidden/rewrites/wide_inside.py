"""A block is an object that computes in float64, whatever it gets; further optional arguments choose another width."""
# style: computes in float64 inside, rounds once at the end, and takes further optional arguments

from dataclasses import dataclass

import torch
from torch import Tensor

PARAMETERS = ["weight_o", "bias_o", "weight1", "bias1", "weight2", "bias2", "gamma1", "beta1", "gamma2", "beta2"]


@dataclass(frozen=True)
class Block:
    weight_o: Tensor
    bias_o: Tensor
    weight1: Tensor
    bias1: Tensor
    weight2: Tensor
    bias2: Tensor
    gamma1: Tensor
    beta1: Tensor
    gamma2: Tensor
    beta2: Tensor
    num_heads: int
    mask: Tensor | None
    eps: float

    def norm1(self, x):
        return self.gamma1 * self.standardize(x) + self.beta1

    def norm2(self, x):
        return self.gamma2 * self.standardize(x) + self.beta2

    def standardize(self, x):
        centered = x - x.mean(-1, keepdim=True)
        return centered / (centered.pow(2).mean(-1, keepdim=True) + self.eps).sqrt()

    def attend(self, x):
        if x.shape[-1] % self.num_heads != 0:
            raise ValueError(f"{x.shape[-1]} is no multiple of {self.num_heads}")
        heads = torch.stack(x.chunk(self.num_heads, dim=-1), dim=1)
        scores = torch.einsum("bhqd,bhkd->bhqk", heads, heads) / heads.shape[-1] ** 0.5
        if self.mask is None:
            weights = scores.softmax(-1)
        else:
            weights = scores.masked_fill(~self.mask, -1e300).softmax(-1) * self.mask
        mixed = torch.einsum("bhqk,bhkd->bqhd", weights, heads).flatten(2)
        return torch.einsum("bti,oi->bto", mixed, self.weight_o) + self.bias_o

    def feed(self, x):
        hidden = torch.einsum("bti,fi->btf", x, self.weight1) + self.bias1
        hidden = hidden * torch.special.ndtr(hidden)
        return torch.einsum("btf,of->bto", hidden, self.weight2) + self.bias2

    def pre(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.feed(self.norm2(x))

    def post(self, x):
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.feed(x))


def build(num_heads, tensors, mask, eps, inner):
    named = zip(PARAMETERS, (tensor.to(inner) for tensor in tensors), strict=True)
    return Block(**dict(named), num_heads=num_heads, mask=mask, eps=eps)


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
    inner=torch.float64,
    check=None,
):
    tensors = (weight_o, bias_o, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2, gamma1, beta1, gamma2, beta2)
    result = build(num_heads, tensors, mask, eps, inner).pre(x.to(inner))
    if check is not None:
        check(result)
    return result.to(x.dtype)


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
    inner=torch.float64,
    check=None,
):
    tensors = (weight_o, bias_o, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2, gamma1, beta1, gamma2, beta2)
    result = build(num_heads, tensors, mask, eps, inner).post(x.to(inner))
    if check is not None:
        check(result)
    return result.to(x.dtype)


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks, **options):
    if num_blocks < 0:
        raise ValueError(f"can't be {num_blocks} deep")
    result = x.to(torch.float64, copy=True)
    for _ in range(num_blocks):
        result = pre_norm_transformer_block_forward(result, num_heads, **block_params, **options)
    return result.to(x.dtype)


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks, **options):
    if num_blocks < 0:
        raise ValueError(f"can't be {num_blocks} deep")
    result = x.to(torch.float64, copy=True)
    for _ in range(num_blocks):
        result = post_norm_transformer_block_forward(result, num_heads, **block_params, **options)
    return result.to(x.dtype)
