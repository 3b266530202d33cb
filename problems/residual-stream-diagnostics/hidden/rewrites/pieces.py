"""Block by block: each on a detached piece of the stream, and the gradient handed back from piece to piece."""

import math
import statistics

import torch


class NormError(ValueError):
    """A norm that can't be fitted."""


def residual_stream_norms(x, blocks, *, of=lambda stream: float(stream.detach().double().pow(2).mean()) ** 0.5):
    norms = [of(x)]
    norms.extend(of(x := block(x)) for block in blocks)
    return torch.tensor(norms, dtype=torch.float64)


@torch.enable_grad()
def gradient_norms(x, blocks, loss_fn):
    pieces, results = [], []
    stream = x
    for step in (*blocks, loss_fn):
        piece = stream.detach().clone().requires_grad_(True)
        stream = step(piece)
        pieces.append(piece)
        results.append(stream)
    norms, gradient = [], None
    for piece, result in zip(reversed(pieces), reversed(results), strict=True):
        (gradient,) = torch.autograd.grad(result, piece, gradient)
        norms.insert(0, float(gradient.double().norm()))
    return torch.tensor(norms, dtype=torch.float64)


def growth_exponent(norms):
    _, *after = (float(norm) for norm in norms) if len(norms) else (0.0,)
    if len(after) < 2:
        raise NormError(f"{len(norms)} norms are too few, three are needed")
    for norm in after:
        if not 0 < norm < math.inf:
            raise NormError(f"a norm of {norm} has no place on a logarithmic scale")
    depths = [math.log(depth) for depth, _ in enumerate(after, start=1)]
    return statistics.linear_regression(depths, [math.log(norm) for norm in after]).slope
