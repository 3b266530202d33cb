"""A case as a plain script: its inputs and its calls, to run under a debugger. No expected values."""

from __future__ import annotations

from typing import Any

import torch

from judge.drawn import DrawnProblem
from judge.errors import ProblemError
from judge.processes.given import SOURCES
from judge.program import Program, Ref, ScratchPath, Step

_HEAD = '''"""Case {case!r} of {problem}, as drawn with seed {seed}: inputs and calls, to run under a debugger.

Run it beside your file: python THIS_FILE path/to/your_file.py
"""

import importlib.util
import sys
from math import inf, nan

import torch
from torch import tensor

spec = importlib.util.spec_from_file_location("submission", sys.argv[1])
submission = importlib.util.module_from_spec(spec)
spec.loader.exec_module(submission)


def leaf(tensor, gradient):
    tensor.requires_grad_().grad = gradient
    return tensor


class Given(torch.nn.Module):
    def __init__(self, compute, **parameters):
        super().__init__()
        self.compute = compute
        for name, tensor in parameters.items():
            self.register_parameter(name, torch.nn.Parameter(tensor))

    def forward(self, x):
        return self.compute(x, **dict(self.named_parameters()))


def gradients(module, result, *leaves):
    named = dict(module.named_parameters())
    for parameter in named.values():
        parameter.grad = None
    weights = torch.arange(1, result.numel() + 1, dtype=torch.float64).square().cos().view(result.shape)
    (result * weights).sum().backward()
    return [{{name: parameter.grad for name, parameter in named.items()}}, *(leaf.grad for leaf in leaves)]

'''


def script(problem: DrawnProblem, case: str, seed: int) -> str:
    """The source text of the script."""
    drawn = next((one for one in problem.cases if one.name == case), None)
    if drawn is None:
        raise ProblemError(f"problems/{problem.id}/cases.py: there is no case {case!r}")
    parts = [_HEAD.format(case=case, problem=problem.id, seed=seed)]
    for number, call in enumerate(drawn.calls, start=1):
        parts.append(f"# call {number} of {len(drawn.calls)}")
        parts += [_step(index, step, call.program) for index, step in enumerate(call.program.steps)]
        parts += [f"print({step.observe!r}, result{i})" for i, step in enumerate(call.program.steps) if step.observe]
    return "\n".join(parts) + "\n"


def _step(index: int, step: Step, program: Program) -> str:
    target = "" if step.target is None else _value(step.target)
    given = ", ".join([*map(_value, step.args), *(f"{key}={_value(value)}" for key, value in step.kwargs.items())])
    right = {
        "function": f"submission.{step.name}({given})",
        "construct": f"submission.{step.name}({given})",
        "constant": f"submission.{step.name}",
        "apply": f"{target}({given})",
        "method": f"{target}.{step.name}({given})",
        "attribute": f"{target}.{step.name}",
        "identical": f"{target} is {given}",
        "load_state": f"{target}.load_state_dict({given})",
        "to": f"{target}.to(torch.{program.dtype})",
        "train": f"{target}.train()",
        "eval": f"{target}.eval()",
        "deepcopy": f"__import__('copy').deepcopy({target})",
        "state_dict": f"{target}.state_dict()",
        "write_file": "None  # a file that the judge writes, which this script leaves out",
        "listing": "None  # the names in the scratch folder, which this script leaves out",
        "readable": f"torch.load({given}, weights_only=True)",
        "given": _lambda(step),
        "leaf": f"leaf({given})",
        "module_list": f"torch.nn.ModuleList([{given}])",
        "calls": "None  # which of the callables were called, which this script leaves out",
        "gradients": f"gradients({target}, {given})",
        "seed": f"torch.manual_seed({given})",
        "sgd_step": f"None  # one step of gradient descent on {target}, which this script leaves out",
    }[step.kind]
    return f"result{index} = {right}"


def _lambda(step: Step) -> str:
    if step.kind != "given":
        return ""
    tensors = ", ".join(f"{key}={_value(tensor)}" for key, tensor in step.kwargs.items())
    names = ", ".join(step.kwargs)
    return f"Given(lambda x, *, {names}: {SOURCES[str(step.name)]}, {tensors})"


def _value(value: Any) -> str:
    if isinstance(value, Ref):
        return f"result{value.step}" + "".join(f"[{key!r}]" for key in value.path)
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, ScratchPath):
        return repr(value.name)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_value(part)}" for key, part in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(_value, value)) + ("," if isinstance(value, tuple) and len(value) == 1 else "")
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    return str(value) if isinstance(value, torch.dtype) else repr(value)


def _tensor(value: torch.Tensor) -> str:
    dtype = str(value.dtype)
    if value.is_contiguous():
        return f"tensor({value.tolist()!r}, dtype={dtype}).reshape({tuple(value.shape)})"
    memory = torch.empty(0, dtype=value.dtype).set_(value.untyped_storage())
    form = f"{tuple(value.shape)}, {value.stride()}, {value.storage_offset()}"
    return f"tensor({memory.tolist()!r}, dtype={dtype}).as_strided({form})"
