from itertools import accumulate
from math import inf, log

import torch


def walk(x, blocks):
    return list(accumulate(blocks, lambda s, block: block(s), initial=x))


@torch.no_grad()
def residual_stream_norms(x, blocks):
    return torch.stack([s.double().square().mean().sqrt() for s in walk(x, blocks)])


@torch.enable_grad()
def gradient_norms(x, blocks, loss_fn):
    streams = walk(x, blocks)
    grads = torch.autograd.grad(loss_fn(streams[-1]), streams)
    return torch.stack([g.detach().double().norm() for g in grads])


def growth_exponent(norms):
    v = [float(n) for n in norms]
    bad = [n for n in v[1:] if not 0 < n < inf]
    if bad or len(v) < 3:
        raise ValueError(f"norms that can't be used: {bad}" if bad else f"{len(v)} norms are too few")
    y, t = [log(n) for n in v[1:]], [log(d) for d in range(1, len(v))]
    t = [a - sum(t) / len(t) for a in t]
    return sum(a * b for a, b in zip(t, y)) / sum(a * a for a in t)
