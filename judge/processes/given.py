"""Callables that the judge gives to a submission as arguments: blocks of a residual stream, and losses.

Each is an nn.Module that holds its tensors as parameters, or, ``plain``, only the function that such a module computes,
which has no parameters that can be asked for. ``frozen``: no parameter requires a gradient. ``graded``: each has a
gradient already, as after a step of training. The calls of one with a name are noted in the order in which they come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn


def _linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return x @ weight.T + bias


def _residual(x: Tensor, weight: Tensor) -> Tensor:
    return x + torch.tanh(x @ weight.T)


def _squares(x: Tensor, weight: Tensor) -> Tensor:
    return (weight * x.square()).sum()


_KINDS: dict[str, Callable[..., Tensor]] = {"linear": _linear, "residual": _residual, "squares": _squares}
SOURCES = {  # the same as text, for a script
    "linear": "x @ weight.T + bias",
    "residual": "x + torch.tanh(x @ weight.T)",
    "squares": "(weight * x.square()).sum()",
}


class GivenModule(nn.Module):
    """A module of the judge; ``calls`` is where the calls of one that has a name are noted."""

    def __init__(self, kind: str, name: str | None, calls: list[str]):
        super().__init__()
        self._compute, self._called, self._calls = _KINDS[kind], name, calls

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        given = [_described(arg) for arg in args] + [f"{key}={_described(value)}" for key, value in kwargs.items()]
        if self._called is not None:
            self._calls.append(f"{self._called}({', '.join(given)})")
        if given != ["tensor"]:
            raise TypeError(f"a block or a loss takes the stream alone, not ({', '.join(given)})")
        return self._compute(args[0], **dict(self.named_parameters()))


def make(
    kind: str,
    tensors: Mapping[str, Tensor],
    calls: list[str],
    name: str | None = None,
    *,
    plain: bool = False,
    frozen: bool = False,
    graded: bool = False,
) -> tuple[GivenModule, Callable[..., Tensor]]:
    """The module, and what the submission gets of it."""
    module = GivenModule(kind, name, calls)
    for key, tensor in tensors.items():
        parameter = nn.Parameter(tensor.detach(), requires_grad=not frozen)
        parameter.grad = tensor.detach() / 2 if graded else None
        module.register_parameter(key, parameter)
    return module, module.forward if plain else module


def leaf(tensor: Tensor, gradient: Tensor | None) -> Tensor:
    """The tensor as one that requires a gradient, with one that it has already."""
    tensor.requires_grad_().grad = gradient
    return tensor


def _described(value: Any) -> str:
    return "tensor" if isinstance(value, Tensor) else type(value).__name__
