"""torch.compile without a compiler: what it is given runs as it is written, which has the same results.

A locked worker can't start a C++ compiler, and compiling takes longer than all calls. A module is still wrapped as
PyTorch wraps it (its parameters are named ``_orig_mod.weight`` then), with a backend that compiles nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

_compile = torch.compile


def install() -> None:
    """Let everything in this process that is compiled from now on run as it is written."""
    torch.compile = plainly


@functools.wraps(_compile)
def plainly(model: Callable[..., Any] | None = None, **options: Any) -> Any:
    if model is None:
        return functools.partial(plainly, **options)
    if isinstance(model, nn.Module) and not options.get("disable"):
        return _compile(model, backend="eager")
    return model
