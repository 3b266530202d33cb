import math
from contextlib import contextmanager

import torch


@contextmanager
def quiet(blocks):
    modules = [b for b in blocks if isinstance(b, torch.nn.Module)]
    for m in modules:
        m.eval()
    try:
        yield
    finally:
        for m in modules:
            m.train()


def residual_stream_norms(x, blocks):
    with torch.no_grad(), quiet(blocks):
        streams = [x]
        for b in blocks:
            streams.append(b(streams[-1]))
    return torch.stack([s.detach().double().pow(2).mean().sqrt() for s in streams])


def gradient_norms(x, blocks, loss_fn):
    with torch.enable_grad(), quiet(blocks):
        streams = [x.detach().clone().requires_grad_()]
        for b in blocks:
            streams.append(b(streams[-1]))
        loss = loss_fn(streams[-1]) + 0 * sum(s.sum() for s in streams)
        grads = torch.autograd.grad(loss, streams)
    return torch.stack([g.double().norm() for g in grads])


def growth_exponent(norms):
    v = torch.as_tensor([float(n) for n in norms], dtype=torch.float64)
    if len(v) < 3 or not all(0 < n < math.inf for n in v[1:].tolist()):
        raise ValueError(f"at least 3 norms, positive and finite after the first, not {v.tolist()}")
    y, t = v[1:].log(), torch.arange(1, len(v), dtype=torch.float64).log()
    t = t - t.mean()
    return (t @ y / (t @ t)).item()
