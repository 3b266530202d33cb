import math

import torch


def residual_stream_norms(x, blocks):
    norms = []
    with torch.no_grad():
        stream = x.detach().clone()
        norms.append(stream.double().pow(2).mean().sqrt())
        for block in blocks:
            stream = block(stream)
            norms.append(stream.double().pow(2).mean().sqrt())
    return torch.stack(norms).detach()


def gradient_norms(x, blocks, loss_fn):
    with torch.enable_grad():
        stream = x.detach().clone()
        stream.requires_grad_()
        streams = [stream]
        for block in blocks:
            stream = block(stream)
            streams.append(stream)
        loss = loss_fn(stream)

    norms = torch.zeros(len(streams), dtype=torch.float64)
    for place, stream in enumerate(streams):
        if not (stream.requires_grad and loss.requires_grad):
            continue
        (gradient,) = torch.autograd.grad(loss, stream, retain_graph=True, allow_unused=True)
        if gradient is not None:
            norms[place] = gradient.double().norm()
    return norms


def growth_exponent(norms):
    values = norms.tolist() if isinstance(norms, torch.Tensor) else [float(norm) for norm in norms]
    if len(values) < 3:
        raise ValueError(f"only {len(values)} norms")

    points = []
    for depth in range(1, len(values)):
        size = abs(values[depth])
        if not math.isfinite(size) or size == 0:
            raise ValueError(f"no logarithm of the norm {values[depth]} at depth {depth}")
        points.append((math.log(depth), math.log(size)))

    count = len(points)
    mean_u = sum(u for u, _ in points) / count
    mean_v = sum(v for _, v in points) / count
    above = 0.0
    below = 0.0
    for u, v in points:
        above += (u - mean_u) * (v - mean_v)
        below += (u - mean_u) ** 2
    return above / below
