import math

import torch


def _size(stream):
    batch, seq_len, _ = stream.shape
    stream = stream.detach().to(torch.float64)
    total = 0.0
    for b in range(batch):
        for t in range(seq_len):
            token = stream[b, t]
            total += math.sqrt((token * token).mean().item())
    return total / (batch * seq_len)


def residual_stream_norms(x, blocks):
    sizes = [_size(x)]
    stream = x.detach()
    with torch.no_grad():
        for block in blocks:
            stream = block(stream)
            sizes.append(_size(stream))
    return torch.tensor(sizes, dtype=torch.float64)


def gradient_norms(x, blocks, loss_fn):
    streams = []
    with torch.enable_grad():
        streams.append(x.detach().requires_grad_(True))
        for block in blocks:
            streams.append(block(streams[-1]))
        loss = loss_fn(streams[-1])
    places = [i for i, stream in enumerate(streams) if stream.requires_grad]
    norms = [0.0] * len(streams)
    if loss.requires_grad:
        gradients = torch.autograd.grad(loss, [streams[i] for i in places], allow_unused=True)
        for i, gradient in zip(places, gradients):
            if gradient is not None:
                norms[i] = torch.linalg.vector_norm(gradient, dtype=torch.float64).item()
    return torch.tensor(norms, dtype=torch.float64)


def growth_exponent(norms):
    if len(norms) < 3:
        raise ValueError(f"{len(norms)} entries, but at least 3 are needed")
    sum_x = sum_y = sum_xx = sum_xy = 0.0
    n = 0
    for depth, norm in enumerate(norms):
        if depth == 0:
            continue
        norm = float(norm)
        if not math.isfinite(norm) or norm <= 0.0:
            raise ValueError(f"entry {depth} is {norm}")
        u, v = math.log(depth), math.log(norm)
        n += 1
        sum_x += u
        sum_y += v
        sum_xx += u * u
        sum_xy += u * v
    return (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x)
