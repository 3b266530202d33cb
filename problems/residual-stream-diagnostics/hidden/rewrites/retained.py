"""One forward pass for both measurements, retained gradients, and results that are views of one table."""

import math

import torch


class Streams(list):
    """The stream at every depth."""

    def __init__(self, x, blocks):
        super().__init__([x])
        for number in range(len(blocks)):
            self.append(blocks[number](self[-1]))

    def table(self, values):
        """Two rows: all elements' squares summed, and their number; (2, depths) float64."""
        sums = [value.detach().to(torch.float64).mul(value.detach()).sum() for value in values]
        return torch.stack([torch.stack(sums), torch.full_like(torch.stack(sums), self[0].numel())])


def residual_stream_norms(x, blocks, *_):
    with torch.no_grad():
        streams = Streams(x, tuple(blocks))
    squares, count = streams.table(streams)
    return squares.div_(count).sqrt_()


def gradient_norms(x, blocks, loss_fn, *_):
    with torch.enable_grad():
        streams = Streams(x.detach().clone().requires_grad_(), blocks)
        for stream in streams[1:]:
            stream.retain_grad()
        loss = loss_fn(streams[-1])
        torch.autograd.backward([loss], inputs=list(streams))
    return streams.table([stream.grad for stream in streams])[0].sqrt()


def growth_exponent(norms):
    if isinstance(norms, torch.Tensor):
        norms = norms.tolist()
    pairs = [(depth, norm) for depth, norm in enumerate(norms) if depth]
    if len(pairs) <= 1:
        raise ValueError("three norms or more are needed, not " + str(len(norms)))
    for depth, norm in pairs:
        if math.isnan(norm) or norm <= 0 or norm == math.inf:
            raise ValueError(f"depth {depth}: {norm}")
    # The normal equations of y = slope * x + level, solved by Cramer's rule.
    count = len(pairs)
    xs, ys = [math.log(depth) for depth, _ in pairs], [math.log(norm) for _, norm in pairs]
    x, y = math.fsum(xs), math.fsum(ys)
    xx, xy = math.fsum(a * a for a in xs), math.fsum(a * b for a, b in zip(xs, ys, strict=True))
    return (count * xy - x * y) / (count * xx - x * x)
