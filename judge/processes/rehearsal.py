"""A small call through the harness, in the zygote once it has nothing to do, and in a worker that waits for its calls.

What a process does once (PyTorch looks at the processor, Python specializes code that runs often) is then done before
the forks, and not by each worker again; a worker that waits copies the pages that it will write to. Nothing of a
submission or a problem takes part.
"""

from __future__ import annotations

import select
from typing import Any

import torch
import torch.nn.functional as F

from judge.processes import device, runner, wire
from judge.program import Program, Step

_TIMES = 8  # after so many rounds Python 3.11 specializes a function
_rounds = iter(range(_TIMES))


def rehearse() -> bool:
    """Observe a call once more, unless that was enough. A few milliseconds, since somebody may come meanwhile.

    Nothing is done where it would bind threads, and what goes wrong is no matter: workers do without.
    """
    if torch.accelerator.is_available():
        return True  # a backward pass starts threads for it, and no forked process could run another
    if next(_rounds, None) is None:
        return True
    try:
        wire.encode_result(observe_once())
    except Exception:
        return True
    return False


def rehearse_until_wanted(commands: int) -> None:
    """In a worker that waits: until something comes on that descriptor, or it is enough."""
    while not select.select([commands], [], [], 0)[0] and not rehearse():
        pass


def observe_once() -> dict[str, Any]:
    """What the harness observes of one call of a function, with every further run."""
    x = torch.linspace(-1, 1, 24, dtype=torch.float64).reshape(2, 3, 4)
    weight = torch.linspace(-1, 1, 16, dtype=torch.float64).reshape(4, 4)
    arguments = {"weight": weight, "mask": torch.ones(3, 3, dtype=torch.bool).tril()}
    step = Step("function", "function", args=(x,), kwargs=arguments, observe="output")
    call = wire.encode_call(Program((step,), extras=("again", "device")))
    pool = torch.linspace(-1, 1, 97, dtype=torch.float64)
    return runner.observe({"function": _function}, call, pool, {"device": device.run_on_fake_device})


def _function(x: torch.Tensor, weight: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """A little of everything, (batch, n, d) -> (batch, n, d)."""
    centred = x - x.mean(dim=-1, keepdim=True)
    normed = centred / torch.sqrt(x.var(dim=-1, keepdim=True, unbiased=False) + 1e-5)
    query = F.linear(normed, weight).reshape(*x.shape[:-1], 2, -1).transpose(1, 2)
    scores = (query @ query.transpose(-2, -1)).masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
    mixed = torch.einsum("bhqk,bhkd->bqhd", weights, query).reshape(x.shape)
    return F.layer_norm(x + mixed, x.shape[-1:]) + F.gelu(F.dropout(mixed, 0.1, training=False))
