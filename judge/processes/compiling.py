"""torch.compile without a compiler: what it is given runs as it is written, which has the same results.

A locked worker can't start a C++ compiler, and importing one takes longer than all calls. A module is still wrapped as
PyTorch wraps it: its parameters are named ``_orig_mod.weight`` then.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def install() -> None:
    """Let everything in this process that is compiled from now on run as it is written."""
    torch.compile = functools.wraps(torch.compile)(_as_written)


def _as_written(model: Callable[..., Any] | None = None, *, disable: bool = False, **options: Any) -> Any:
    if model is None:
        return functools.partial(_as_written, disable=disable, **options)
    return OptimizedModule(model) if isinstance(model, nn.Module) and not disable else model


class OptimizedModule(nn.Module):
    """A module in the place of another, as PyTorch's class of this name is: what it lacks it takes from that one."""

    def __init__(self, module: nn.Module):
        super().__init__()
        self._orig_mod = module
        self.training = module.training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._orig_mod(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        own = super().__getattr__("_orig_mod")
        return own if name == "_orig_mod" else getattr(own, name)
