"""Four partial applications of one function; errors are classes of their own, without a word in them."""
# style: raises a subclass of ValueError whose message names no value

from functools import partial, reduce

import torch

NAMES = [
    "weight_o",
    "bias_o",
    "ffn_weight1",
    "ffn_bias1",
    "ffn_weight2",
    "ffn_bias2",
    "gamma1",
    "beta1",
    "gamma2",
    "beta2",
    "mask",
    "eps",
]


class NumberError(ValueError):
    """A number of heads or blocks that can't be."""


class HeadsError(NumberError):
    """The heads can't share the features."""


def attend(given, num_heads, x):
    if x.shape[-1] % num_heads:
        raise HeadsError
    heads = torch.stack(x.split(x.shape[-1] // num_heads, dim=-1))  # (num_heads, batch, seq_len, d_head)
    scores = heads @ heads.mT / heads.shape[-1] ** 0.5
    mask = given.get("mask")
    if mask is not None:
        mask = mask if mask.dim() == 2 else mask.transpose(0, 1)
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1) if mask is None else scores.softmax(-1).masked_fill(~mask.any(-1, keepdim=True), 0)
    return torch.cat((weights @ heads).unbind(), dim=-1) @ given["weight_o"].T + given["bias_o"]


def feed(given, x):
    hidden = torch.baddbmm(given["ffn_bias1"], x, given["ffn_weight1"].T.expand(len(x), -1, -1))
    hidden = torch.nn.functional.gelu(hidden)
    return torch.baddbmm(given["ffn_bias2"], hidden, given["ffn_weight2"].T.expand(len(x), -1, -1))


def norm(given, number, x):
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    scale = given[f"gamma{number}"] * (variance + given.get("eps", 1e-5)).rsqrt()
    return (x - mean) * scale + given[f"beta{number}"]


def norm_inside(x, sublayer, norm):
    return x + sublayer(norm(x))


def norm_outside(x, sublayer, norm):
    return norm(x + sublayer(x))


def block(order, x, num_heads, *positional, **named):
    given = {**dict(zip(NAMES, positional, strict=False)), **named}
    x = order(x, partial(attend, given, num_heads), partial(norm, given, 1))
    return order(x, partial(feed, given), partial(norm, given, 2))


def stack(order, x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise NumberError
    return reduce(lambda stream, _: block(order, stream, num_heads, **block_params), range(num_blocks), x.view_as(x))


pre_norm_transformer_block_forward = partial(block, norm_inside)
post_norm_transformer_block_forward = partial(block, norm_outside)
stack_pre_norm_blocks = partial(stack, norm_inside)
stack_post_norm_blocks = partial(stack, norm_outside)
