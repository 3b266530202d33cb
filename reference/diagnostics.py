"""Oracle: diagnostics of a residual stream, by probes that are added to it and the standard library's regression."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

Block = Callable[[Tensor], Tensor]


def residual_stream_norms(x: Tensor, blocks: Sequence[Block]) -> Tensor:
    """Root mean squares of the stream before the first and after each block; x (batch, seq_len, d_model).

    De and Smith 2020 (arXiv 2002.10444), section 3: the stream's variance by depth.
    """
    streams = [x]
    for block in blocks:
        streams.append(block(streams[-1]))
    flat = torch.stack([stream.detach().flatten() for stream in streams]).double()  # (len(blocks) + 1, elements)
    return torch.linalg.vector_norm(flat, dim=1) / math.sqrt(x.numel())


def gradient_norms(x: Tensor, blocks: Sequence[Block], loss_fn: Block) -> Tensor:
    """L2 norms of the loss's gradients at the same places; x (batch, seq_len, d_model).

    Xiong et al. 2020 (arXiv 2002.04745), figure 3. A probe of zeros is added at each place: what the loss would change
    with it is the gradient there.
    """
    with torch.enable_grad():
        probes = [torch.zeros_like(x, requires_grad=True) for _ in range(len(blocks) + 1)]
        stream = x.detach() + probes[0]
        for block, probe in zip(blocks, probes[1:], strict=True):
            stream = block(stream) + probe
        gradients = torch.autograd.grad(loss_fn(stream), probes)
    return torch.stack(gradients).double().flatten(1).norm(dim=1)


def growth_exponent(norms: Tensor | Sequence[float]) -> float:
    """Slope of log(norm) against log(depth) from depth 1 on. ValueError for too few norms or one without a log."""
    after = [float(norm) for norm in norms][1:]
    if len(after) < 2 or not all(0 < norm < math.inf for norm in after):
        raise ValueError(f"norms after the blocks are {after}; give two or more that are finite and positive")
    depths = [math.log(depth) for depth in range(1, len(after) + 1)]
    return statistics.linear_regression(depths, [math.log(norm) for norm in after]).slope
