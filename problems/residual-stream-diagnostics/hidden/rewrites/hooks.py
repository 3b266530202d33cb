"""Hooks on the stream catch the gradients as they pass; backward is told to write to the copied input alone."""

import numpy as np
import torch
from torch import Tensor


def residual_stream_norms(x: Tensor, blocks) -> Tensor:
    return torch.stack([rms(stream) for stream in streams_of(x.detach(), iter(blocks))]).detach()


def streams_of(stream: Tensor, blocks):
    yield stream
    for block in blocks:
        stream = block(stream)
        yield stream


def rms(stream: Tensor) -> Tensor:
    flat = stream.double().reshape(-1)
    return (flat @ flat / len(flat)) ** 0.5


def gradient_norms(x: Tensor, blocks, loss_fn) -> Tensor:
    caught = {}
    was_enabled = torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    try:
        source = x.detach().clone().requires_grad_()
        for depth, stream in enumerate(streams_of(source, blocks)):
            stream.register_hook(lambda gradient, depth=depth: caught.update({depth: gradient.detach()}))
            last = stream
        loss_fn(last).backward(inputs=[source])
    finally:
        torch.set_grad_enabled(was_enabled)
    return torch.stack([caught[depth].double().square().sum().sqrt() for depth in sorted(caught)])


def growth_exponent(norms, first_depth: int = 1):
    after = np.array([float(norm) for norm in norms][1:])
    if after.size < 2:
        raise ValueError(f"got {len(norms)} norms")
    bad = after[~np.isfinite(after) | (after <= 0)]
    if bad.size:
        raise ValueError(f"{bad[0]} is no norm of a stream")
    slope, _ = np.polyfit(np.log(np.arange(first_depth, first_depth + after.size)), np.log(after), deg=1)
    return slope
