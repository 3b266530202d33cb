"""Names for the student: which argument a path means, and one line that says what was called."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from typing import Any

import torch

from judge.counted import counted
from judge.parsing import parse
from judge.program import Program, Ref, Step


class Labels:
    """Turns an argument's path ("2.0", "0.block_params.gamma1") into the name in the entry point's signature."""

    def __init__(self, signatures: dict[str, dict[str, str]]):
        self._parameters = {
            (entry, method): parameter_names(signature)
            for entry, methods in signatures.items()
            for method, signature in methods.items()
        }

    def of(self, program: Program) -> Callable[[str], str]:
        """The labels of one call."""

        def label(path: str) -> str:
            head, *rest = path.split(".")
            if not (_is_number(head) and rest and int(head) < len(program.steps)):
                return path.split(":")[-1]
            if _is_number(rest[0]):
                names = self._names(program, program.steps[int(head)])
                number = int(rest[0])
                rest[0] = names[number] if number < len(names) else f"argument {number + 1}"
            return rest[0] + "".join(f"[{part!r}]" if not part.isdigit() else f"[{part}]" for part in rest[1:])

        return label

    def _names(self, program: Program, step: Step) -> list[str]:
        if step.kind == "function":
            return self._parameters.get((step.name or "", ""), [])
        method = "forward" if step.kind == "apply" else step.name or ""
        return self._parameters.get((_class_of(program, step.target), method), [])


def parameter_names(signature: str) -> list[str]:
    """The names in "(x, gamma, beta, eps=1e-5)"."""
    function = parse(f"def f{signature}: pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    return [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]


def describe_call(program: Program) -> str:
    """One line: the student-visible steps with the shapes of their arguments."""
    parts = []
    for step in program.steps:
        if step.kind in ("function", "construct", "method", "apply"):
            given = [_short(arg) for arg in step.args]
            given += [f"{key}={_short(value)}" for key, value in step.kwargs.items()]
            parts.append(f"{step.name or 'module'}({', '.join(given)})")
        elif step.kind in ("constant", "attribute"):
            parts.append(str(step.name))
    line = "; ".join(part if count == 1 else f"{count} times {part}" for part, count in _runs(parts))
    return f"{line} in {program.dtype}" if program.dtype != "float64" else line


def _is_number(text: str) -> bool:
    """Whether it is one that a program's steps may have: a path may come from a submission, and be anything."""
    return text.isdecimal() and len(text) < 10


def _runs(parts: list[str]) -> list[tuple[str, int]]:
    return [(part, len(list(same))) for part, same in itertools.groupby(parts)]


def _class_of(program: Program, target: Ref | None) -> str:
    while target is not None:
        step = program.steps[target.step]
        if step.kind == "construct":
            return step.name or ""
        target = step.target
    return ""


def _short(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        kind = "" if value.is_floating_point() else f"{str(value.dtype).removeprefix('torch.')} "
        return f"{kind}{tuple(value.shape)}"
    if isinstance(value, Ref):
        return "..."
    if isinstance(value, dict):
        return f"{{{counted(len(value), 'entry', 'entries')}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_short, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
