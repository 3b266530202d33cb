"""What the named parts of a module get and give during one call: the first that differs is where to look.

Parts are known by the keys of the state_dict ("attention.q_proj"), which every right submission shares. Only the first
call of each part is noted, and only of parts that hold parameters and are called as modules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from judge.processes import hygiene, wire
from judge.processes.run import BareRun, attempt
from judge.program import Program

GETS, GIVES = "gets", "gives"
_MOST_NOTES = 400
_MOST_BYTES = 1 << 24


def trace(program: Program, namespace: dict[str, Any]) -> dict[str, Any]:
    """The observation whose values are, by "gets <part>" and "gives <part>" in order, lists of tensors."""
    notes = _Notes()
    with torch.no_grad():
        attempt(_TracedRun(program, namespace, notes).execute)  # what a failing call noted before it failed counts
    return {"error": None, "values": notes.taken}


class _Notes:
    def __init__(self) -> None:
        self.taken: dict[str, bytes] = {}
        self._bytes = 0

    def watch(self, module: nn.Module) -> None:
        for name, part in nn.Module.named_modules(module):
            if name and next(nn.Module.parameters(part), None) is not None:
                part.register_forward_pre_hook(self._noting(f"{GETS} {name}", (1, 2)), with_kwargs=True)
                part.register_forward_hook(self._noting(f"{GIVES} {name}", (3,)), with_kwargs=True)

    def _noting(self, key: str, positions: tuple[int, ...]) -> Callable[..., None]:
        def note(*about: Any) -> None:
            if key not in self.taken and len(self.taken) < _MOST_NOTES and self._bytes < _MOST_BYTES:
                tensors = [tensor for place in positions for _, tensor in hygiene.input_tensors(about[place])]
                self.taken[key] = wire.encode_result([tensor.detach() for tensor in tensors])
                self._bytes += len(self.taken[key])

        return note


class _TracedRun(BareRun):
    def __init__(self, program: Program, namespace: dict[str, Any], notes: _Notes):
        super().__init__(program, namespace)
        self._notes = notes

    def _constructed(self, index: int, result: Any, training: bool = True) -> Any:
        if isinstance(result, nn.Module) and not self.modules:  # of several modules the first
            self._notes.watch(result)
        return super()._constructed(index, result, training)
