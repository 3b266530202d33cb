"""Style: both orders by functools from one table of sublayers, catch-all signatures, PyTorch's own operations."""

from functools import partial, reduce

import torch.nn.functional as F

LINEAR = ("weight_o", "bias_o", "ffn_weight1", "ffn_bias1", "ffn_weight2", "ffn_bias2")
NORMS_AND_OPTIONS = ("gamma1", "beta1", "gamma2", "beta2", "mask", "eps")


def attend(p, num_heads, x):
    if x.shape[-1] % num_heads != 0:
        raise ValueError(f"d_model = {x.shape[-1]} can not be divided by num_heads = {num_heads}")
    heads = [chunk.unsqueeze(1) for chunk in x.tensor_split(num_heads, dim=-1)]
    mask = p.get("mask")
    if mask is not None:
        mask = mask.expand(len(x), num_heads, x.shape[1], x.shape[1]).unbind(1)
    mixed = [
        F.scaled_dot_product_attention(h, h, h, None if mask is None else mask[i].unsqueeze(1))
        for i, h in enumerate(heads)
    ]
    columns = p["weight_o"].tensor_split(num_heads, dim=1)
    return sum((F.linear(m.squeeze(1), w) for m, w in zip(mixed, columns, strict=True)), p["bias_o"])


def feed(p, x):
    hidden = F.gelu(F.linear(x, p["ffn_weight1"], p["ffn_bias1"]))
    return F.linear(hidden, p["ffn_weight2"], p["ffn_bias2"])


def norm(p, which, x):
    gamma, beta = p[f"gamma{which}"], p[f"beta{which}"]
    return F.layer_norm(x, x.shape[-1:], gamma, beta, p.get("eps", 1e-5))


def before(x, step):
    normalize, sublayer = step
    return x + sublayer(normalize(x))


def after(x, step):
    normalize, sublayer = step
    return normalize(x + sublayer(x))


def block(order, x, num_heads, *args, **kwargs):
    p = dict(zip(LINEAR + NORMS_AND_OPTIONS, args, strict=False), **kwargs)
    steps = [(partial(norm, p, 1), partial(attend, p, num_heads)), (partial(norm, p, 2), partial(feed, p))]
    return reduce(order, steps, x)


def stack(order, x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"num_blocks must not be negative, got {num_blocks}")
    return reduce(lambda stream, _: block(order, stream, num_heads, **block_params), range(num_blocks), x)


pre_norm_transformer_block_forward = partial(block, before)
post_norm_transformer_block_forward = partial(block, after)
stack_pre_norm_blocks = partial(stack, before)
stack_post_norm_blocks = partial(stack, after)
