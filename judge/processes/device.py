"""Device bugs, seen without a device: a call whose inputs and parameters are on the fake accelerator."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from judge.processes import hygiene
from judge.processes.fake_device import PLAIN, DeviceMismatchError, Elsewhere, FakeDevice, put
from judge.processes.faults import describe
from judge.processes.run import Namespace, Run
from judge.program import Program

_COMPUTING = ("function", "apply", "method")
_OF_RANDOM = 2  # dropout is applied dozens of times to see where it acts; where it lives shows at once


def run_on_fake_device(program: Program, namespace: Namespace) -> dict[str, Any] | None:
    """What is wrong there: {"mixed": description}, {"elsewhere": [names]} or {}; None where the call did not end."""
    run = _FakeRun(program, namespace)
    try:
        with torch.no_grad():
            run.execute()
    except DeviceMismatchError as exc:
        return {"mixed": describe(exc)}
    except BaseException:  # student code; any other error says nothing about devices
        return None
    if program.anywhere or not run.moved_inputs:
        return {}
    named = [pair for name, value in run.values.items() for pair in hygiene.input_tensors(value, name)]
    elsewhere = [name for name, tensor in named if type(tensor) in PLAIN]  # of other classes nothing is known
    return {"elsewhere": elsewhere} if elsewhere else {}


class _FakeRun(Run):
    """Modules are built and loaded on the CPU and moved when the first step computes with them."""

    def __init__(self, program: Program, namespace: Namespace):
        super().__init__(program, namespace)
        self.moved_inputs = False
        self._moved: set[int] = set()

    def execute(self) -> None:
        computed = 0
        for index, step in enumerate(self.program.steps):
            computed += step.kind in _COMPUTING
            if self.program.random and computed > _OF_RANDOM:
                return
            args, kwargs = self._arguments(index, step)
            if step.kind not in _COMPUTING:
                self.results.append(self.step(index, step, args, kwargs))
                continue
            for module in self.modules.values():
                self._move_module(module)
            args, kwargs = self._move(args), self._move(kwargs)
            with FakeDevice():
                result = self.step(index, step, args, kwargs)
            self.results.append(result)
            if step.observe:
                self.values[step.observe] = result

    def _move_module(self, module: nn.Module) -> None:
        if id(module) in self._moved:
            return
        self._moved.add(id(module))
        for part in nn.Module.modules(module):
            for tensors in (part._parameters, part._buffers):
                for name, tensor in tensors.items():
                    if tensor is not None:
                        tensors[name] = put(tensor).requires_grad_(tensor.requires_grad)  # type: ignore[assignment]

    def _move(self, value: Any) -> Any:
        if isinstance(value, Elsewhere):
            return value
        if isinstance(value, torch.Tensor):
            self.moved_inputs = True
            return put(value)
        if isinstance(value, dict):
            return {key: self._move(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._move(part) for part in value)
        return value
