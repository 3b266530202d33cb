"""Submissions that are obviously wrong, made from the reference: every problem must refuse each of them.

Each wraps one entry point, lets the reference compute, and spoils the result; which ways are tried depends on the kind
of value that the reference gives. `raising` is the plainest: every entry point raises.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from judge.models import EntryPoint
from judge.parsing import parse

_ANYTHING = {"None": "None", "the wrong type": "'nonsense'", "a list around it": "[result]"}
_CONSTANTS = {"None": "None", "a text": "'nonsense'", "empty": "[]", "a number": "-1"}
_BY_KIND: dict[str, dict[str, str]] = {
    "floating tensor": {
        "zeros": "torch.zeros_like(result)",
        "its input": "first(args, kwargs)",
        "the mean everywhere": "result.mean().expand_as(result)",
        "NaN": "result * float('nan')",
        "infinity": "result + float('inf')",
        "a broadcastable shape": "result[..., :1]",
        "one dimension more": "result.unsqueeze(0)",
        "float32": "result.float()",
    },
    "differentiable tensor": {
        "a detached result": "result.detach()",
        "an edited input": "edited(result, args, kwargs)",
    },
    "bool tensor": {"everything": "torch.ones_like(result)", "the opposite": "~result", "floats": "result.float()"},
    "int": {"one more": "result + 1", "one less": "result - 1", "a float": "float(result)", "a bool": "bool(result)"},
    "float": {"twice as much": "2 * result", "NaN": "float('nan')"},
    "tuple": {
        "a list": "list(result)",
        "the first part": "result[0]",
        "the parts reversed": "tuple(result[::-1])",
        "zeros": "tuple(torch.zeros_like(part) for part in result)",
        "NaN": "tuple(part * float('nan') for part in result)",
        "float32": "tuple(part.float() for part in result)",
        "a detached first part": "(result[0].detach(), *result[1:])",
        "a last part one dimension more": "(*result[:-1], result[-1].unsqueeze(0))",
        "an edited input": "edited(result, args, kwargs)",
    },
    "list": {"the first part": "result[0]", "one part less": "result[:-1]"},
}
_HELPERS = """
import torch


def first(args, kwargs):
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            return value
    return None


def edited(result, args, kwargs):
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.Tensor) and value.dtype is not torch.bool:
            with torch.no_grad():
                value.mul_(2)
            break
    return result
"""
_FUNCTION = """

def spoiled(right):
    def {name}(*args, **kwargs):
        result = right(*args, **kwargs)
        return {expression}

    return {name}


{name} = spoiled({name})
"""
_CLASS = """

class {name}({name}):
    def forward(self, *args, **kwargs):
        result = super().forward(*args, **kwargs)
        return {expression}
"""


def junk(reference: str, entry_points: Sequence[EntryPoint], kinds: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Pairs of a name and a source. ``kinds``: what each entry point's results are, as `result_kinds` says."""
    for entry in entry_points:
        if entry.kind == "constant":
            for way, value in _CONSTANTS.items():
                yield f"{entry.name} is {way}", f"{_without(reference, entry.name)}\n{entry.name} = {value}\n"
            continue
        for kind in kinds.get(entry.name, []):
            for way, expression in _BY_KIND.get(kind, {}).items():
                yield f"{entry.name} gives {way}", reference + _HELPERS + _spoil(entry, expression)
        if entry.name in kinds:
            for way, expression in _ANYTHING.items():
                yield f"{entry.name} gives {way}", reference + _HELPERS + _spoil(entry, expression)


def _without(source: str, name: str) -> str:
    """The source without the statements that give this name a value: a file of answers gives each name once."""
    lines = source.splitlines()
    for statement in parse(source).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            for number in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
                lines[number] = ""
    return "\n".join(lines)


def raising(entry_points: Sequence[EntryPoint]) -> str:
    """A submission in which everything raises."""
    parts = []
    for entry in entry_points:
        if entry.kind == "function":
            parts.append(f"def {entry.name}(*args, **kwargs):\n    raise ArithmeticError('junk')\n")
        elif entry.kind == "class":
            parts.append(
                f"class {entry.name}:\n    def __init__(self, *a, **k):\n        raise ArithmeticError('junk')\n"
            )
        else:
            parts.append(f"{entry.name} = None\n")
    return "\n\n".join(parts)


def _spoil(entry: EntryPoint, expression: str) -> str:
    template = _CLASS if entry.kind == "class" else _FUNCTION
    return template.format(name=entry.name, expression=expression)
