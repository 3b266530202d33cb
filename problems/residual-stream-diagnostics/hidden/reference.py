"""Model answer: the residual stream's norms, its gradients' norms, and how fast they grow with depth.

What is measured: Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture", section 3.2 and figure 3
(gradients by depth); De and Smith 2020, "Batch Normalization Biases Residual Blocks Towards the Identity Function in
Deep Networks", section 3 (the stream's variance by depth).
"""

import math

import torch


def root_mean_square(stream):
    """Over all elements, in float64 whatever the stream's dtype."""
    values = stream.detach().double()
    mean_square = values.square().mean()
    return mean_square.sqrt()


def residual_stream_norms(x, blocks):
    """x: (batch, seq_len, d_model). Returns (len(blocks) + 1,) float64."""
    stream = x.detach()
    norms = [root_mean_square(stream)]
    with torch.no_grad():
        for block in blocks:
            stream = block(stream)
            norms.append(root_mean_square(stream))
    return torch.stack(norms)


def gradient_norms(x, blocks, loss_fn):
    """x: (batch, seq_len, d_model). Returns (len(blocks) + 1,) float64."""
    stream = x.detach().requires_grad_()  # another tensor than the caller's, whose flag and .grad stay as they were
    streams = [stream]
    with torch.enable_grad():
        for block in blocks:
            stream = block(stream)
            streams.append(stream)
        loss = loss_fn(stream)
    gradients = torch.autograd.grad(loss, streams)  # unlike backward, it writes to no .grad
    norms = [torch.linalg.vector_norm(gradient.double()) for gradient in gradients]
    return torch.stack(norms)


def growth_exponent(norms):
    """norms: a 1-D tensor or a sequence of floats. Returns a float."""
    values = [float(norm) for norm in norms]
    if len(values) < 3:
        raise ValueError(f"got {len(values)} norms, expected at least 3: one before the blocks and two after")
    values = values[1:]  # depth 0 has no logarithm
    for depth, value in enumerate(values, start=1):
        if not math.isfinite(value):
            raise ValueError(f"the norm at depth {depth} is {value}, expected a finite number")
        if value <= 0:
            raise ValueError(f"the norm at depth {depth} is {value}, expected a positive number")
    log_depths = [math.log(depth) for depth in range(1, len(values) + 1)]
    log_norms = [math.log(value) for value in values]
    mean_depth = sum(log_depths) / len(log_depths)
    mean_norm = sum(log_norms) / len(log_norms)
    covariance = sum((d - mean_depth) * (n - mean_norm) for d, n in zip(log_depths, log_norms, strict=True))
    variance = sum((d - mean_depth) ** 2 for d in log_depths)
    return covariance / variance
