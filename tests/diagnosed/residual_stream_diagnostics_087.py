import math

import torch


def residual_stream_norms(x, blocks):
    result = torch.empty(len(blocks) + 1, dtype=torch.float64)
    h = x.detach()
    with torch.no_grad():
        for i in range(len(blocks) + 1):
            if i > 0:
                h = blocks[i - 1](h)
            result[i] = torch.sqrt(torch.mean(torch.square(h.detach().double())))
    return result


def gradient_norms(x, blocks, loss_fn):
    with torch.enable_grad():
        h = x.detach().clone().requires_grad_()
        trace = [h]
        for block in blocks:
            h = block(h)
            trace.append(h)
        loss = loss_fn(h)

        result = []
        for h in trace:
            grad = None
            if loss.requires_grad and h.requires_grad:
                grad = torch.autograd.grad(loss, h, retain_graph=True, allow_unused=True)[0]
            if grad is None:
                grad = torch.zeros_like(h)
            grad = grad.detach().double().flatten(0, -2)
            lengths = []
            for token in grad:
                lengths.append(torch.linalg.vector_norm(token))
            result.append(torch.stack(lengths).mean())
    return torch.stack(result)


def growth_exponent(norms):
    values = [float(n) for n in norms]
    if len(values) < 3:
        raise ValueError(f"norms has {len(values)} entries, needs 3")
    xs, ys = [], []
    for depth, value in enumerate(values[1:], 1):
        if not 0.0 < value < float("inf"):
            raise ValueError(f"norm {value} at depth {depth}")
        xs.append(math.log(depth))
        ys.append(math.log(value))
    center = sum(xs) / len(xs)
    slope = 0.0
    spread = sum((u - center) ** 2 for u in xs)
    for u, v in zip(xs, ys):
        slope += (u - center) / spread * v
    return slope
