"""Probes of zeros through torch.func: the gradient with respect to what would be added to the stream at each place."""

import math

import torch


def residual_stream_norms(x, blocks):
    norms = x.new_empty(len(blocks) + 1, dtype=torch.float64)
    for depth in range(len(norms)):
        if depth:
            x = blocks[depth - 1](x)
        norms[depth] = torch.linalg.vector_norm(x.detach(), dtype=torch.float64) / math.sqrt(x.numel())
    return norms


def gradient_norms(x, blocks, loss_fn):
    def loss(probes):
        stream = x.detach() + probes[0]
        for block, probe in zip(blocks, probes[1:], strict=True):
            stream = block(stream) + probe
        return loss_fn(stream)

    probes = tuple(torch.zeros_like(x) for _ in range(len(blocks) + 1))
    gradients = torch.func.grad(loss)(probes)
    return torch.stack([torch.sqrt((g.detach().double() ** 2).sum()) for g in gradients])


def growth_exponent(norms):
    norms = torch.as_tensor(norms, dtype=torch.float64)
    if len(norms) < 3:
        raise ValueError(f"{len(norms)} norms say nothing about growth")
    after = norms[1:]
    wrong = after[~(torch.isfinite(after) & (after > 0))]
    if len(wrong):
        raise ValueError(f"no logarithm of {wrong[0].item()}")
    depths = torch.arange(1, len(norms), device=norms.device).double()
    design = torch.stack([depths.log(), torch.ones_like(depths)], dim=1)
    return float(torch.linalg.pinv(design)[0] @ after.log())
