import math

import torch


class _StreamRecorder:
    def __init__(self, *, blocks):
        self.blocks = blocks
        self.streams = []

    def run(self, stream):
        self.streams.append(stream)
        for block in self.blocks:
            stream = block(stream)
            self.streams.append(stream)
        return stream


def _rms(stream):
    return stream.detach().to(torch.float64).square().mean().sqrt()


def _l2(gradient, *, like):
    if gradient is None:
        return torch.zeros((), dtype=torch.float64, device=like.device)
    return torch.linalg.vector_norm(gradient.to(torch.float64))


def _validate_norms(values):
    if len(values) < 3:
        raise ValueError(f"growth needs at least 3 norms, got {len(values)}")
    for index, value in enumerate(values[1:], start=1):
        if math.isfinite(value) and value > 0:
            continue
        raise ValueError(f"norm {index} must be finite and positive, got {value}")


def _safe_log(value, *, eps=1e-8):
    return math.log(value + eps)


def _fit_slope(xs, ys):
    mean_x = math.fsum(xs) / len(xs)
    mean_y = math.fsum(ys) / len(ys)
    covariance = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(xs, ys))
    return covariance / math.fsum((a - mean_x) ** 2 for a in xs)


def residual_stream_norms(x, blocks):
    recorder = _StreamRecorder(blocks=blocks)
    with torch.no_grad():
        recorder.run(x.detach())
        return torch.stack([_rms(stream) for stream in recorder.streams])


def gradient_norms(x, blocks, loss_fn):
    recorder = _StreamRecorder(blocks=blocks)
    with torch.enable_grad():
        loss = loss_fn(recorder.run(x.detach().clone().requires_grad_(True)))
        if not loss.requires_grad:
            return torch.zeros(len(recorder.streams), dtype=torch.float64)
        wanted = [stream for stream in recorder.streams if stream.requires_grad]
        found = iter(torch.autograd.grad(loss, wanted, allow_unused=True))
    gradients = [next(found) if stream.requires_grad else None for stream in recorder.streams]
    return torch.stack([_l2(g, like=x) for g in gradients])


def growth_exponent(norms):
    values = [float(value) for value in norms]
    _validate_norms(values)
    depths = range(1, len(values))
    return _fit_slope([math.log(depth) for depth in depths], [_safe_log(value) for value in values[1:]])
