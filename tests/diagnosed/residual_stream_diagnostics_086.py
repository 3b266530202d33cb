import math

import torch


def residual_stream_norms(x, blocks):
    squares = []
    stream = x.detach()
    with torch.no_grad():
        flat = stream.reshape(-1).to(torch.float64)
        squares.append(torch.dot(flat, flat) / flat.numel())
        for block in blocks:
            stream = block(stream)
            flat = stream.reshape(-1).to(torch.float64)
            squares.append(torch.dot(flat, flat) / flat.numel())
    return torch.sqrt(torch.stack(squares))


def gradient_norms(x, blocks, loss_fn):
    with torch.enable_grad():
        start = x.detach().clone().requires_grad_(True)
        streams = [start]
        for block in blocks:
            streams.append(block(streams[-1]))
        loss = loss_fn(streams[-1])

        norms = []
        for stream in streams:
            gradient = None
            if loss.requires_grad and stream.requires_grad:
                (gradient,) = torch.autograd.grad(loss, [stream], retain_graph=True, allow_unused=True)
            if gradient is None:
                gradient = torch.zeros_like(stream)
            row = gradient.detach().reshape(1, -1).to(x.dtype)
            norms.append(torch.sqrt(torch.matmul(row, row.transpose(0, 1))).reshape(()))
    return torch.stack(norms)


def growth_exponent(norms):
    values = torch.tensor([float(norm) for norm in norms], dtype=torch.float64)
    if values.numel() < 3:
        raise ValueError(f"{values.numel()} norms are fewer than 3")
    values = values[1:]
    for value in values.tolist():
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"a norm is {value}")

    depths = torch.arange(1, values.numel() + 1, dtype=torch.float64)
    design = torch.stack([torch.log(depths), torch.ones_like(depths)], dim=1)  # (n, 2)
    target = torch.log(values).reshape(-1, 1)
    gram = torch.matmul(design.transpose(0, 1), design)
    moment = torch.matmul(design.transpose(0, 1), target)
    solution = torch.linalg.solve(gram, moment)
    return float(solution[0, 0])
