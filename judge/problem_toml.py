"""problem.toml as data: keys, types and values, each mistake told with its key, its value and what to write.

format = 1
title = "Layer normalization"
...
[entry_points]
layer_norm_forward = "(x, gamma, beta, eps=1e-5)"      # a function
MOVED_LINES = "constant"                               # a value of the module
[entry_points.PreNormBlock]                            # a class
constructor = "(d_model, num_heads, dropout=0.0)"
forward = "(x, mask=None)"
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from judge.closed import expand
from judge.errors import ProblemError
from judge.models import EntryPoint, Limits, Problem, StreamSettings
from judge.problem_files import refuse_unknown_keys
from judge.signatures import parse_signature

FORMAT = 1

# Every key, with what one writes there.
_KEYS = {
    "format": f"format = {FORMAT}",
    "title": 'title = "Layer normalization"',
    "kind": 'kind = "code" (or "answers": a file of literals that is never executed; "tests": a pytest file)',
    "track": "track = 1",
    "unit": 'unit = "3.3"',
    "difficulty": 'difficulty = "easy"',
    "prerequisites": 'prerequisites = ["layer-norm"]',
    "points": "points = 10",
    "closed": 'closed = ["norms"]',
    "oracle": 'oracle = "reference.norms"',
    "contract": 'contract = "scaled-dot-product-attention"',
    "inputs_shown": "inputs_shown = true",
    "feedback": 'feedback = "full" (or "hint", "verdict": an exam shows less)',
    "limits": "[limits], and under it call_seconds = 5",
    "entry_points": '[entry_points], and under it layer_norm_forward = "(x, gamma, beta, eps=1e-5)"',
    "stream": '[stream], and under it labels = ["pre-norm"]',
}
_REQUIRED = ("format", "title", "track", "unit", "difficulty", "entry_points")
_CLASS = 'constructor = "(d_model)", forward = "(x)" and further methods'

_EXPECTED = {
    "string_type": "a text in quotes",
    "string_too_short": "a text of at least one letter",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "model_type": "a table",
    "literal_error": "one of {expected}",
    "greater_than": "above {gt:g}",
    "greater_than_equal": "at least {ge:g}",
}


def problem_from_toml(table: Mapping[str, Any], where: str, **rest: Any) -> Problem:
    """Make a Problem of a problem.toml and of what the other files give (``rest``). Raises ProblemError."""
    refuse_unknown_keys(where, table, _KEYS)
    for key in _REQUIRED:
        if key not in table:
            raise ProblemError(f"{where}: {key} is missing; write it like {_KEYS[key]}")
    if table["format"] != FORMAT:
        raise ProblemError(f"{where}: format = {table['format']!r} can't be read; write {_KEYS['format']}")
    for key, known in (("limits", Limits.model_fields), ("stream", StreamSettings.model_fields)):
        if isinstance(table.get(key), dict):
            refuse_unknown_keys(f"{where}: {key}", table[key], known)
    fields = {key: _frozen(value) for key, value in table.items() if key != "format"}
    fields["entry_points"] = _entry_points(table["entry_points"], where)
    try:
        problem = Problem.model_validate({**fields, **rest}, strict=True)
    except ValidationError as exc:
        raise ProblemError(f"{where}: {_sentence(exc.errors()[0])}") from exc
    _refuse_blank(problem, where)
    _check_kind(problem, where)
    try:
        return problem.model_copy(update={"closed": expand(problem.closed)})
    except ValueError as exc:
        raise ProblemError(f"{where}: closed: {exc}") from exc


def _frozen(value: Any) -> Any:
    """Lists as tuples, also inside of tables, as the models ask for them."""
    if isinstance(value, dict):
        return {key: _frozen(one) for key, one in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _sentence(error: ErrorDetails) -> str:
    """Say in our words what a model refuses: the first part of the place is the key."""
    keys = [part for part in error["loc"] if isinstance(part, str)]
    expected = _EXPECTED.get(error["type"], "what belongs there").format(**error.get("ctx", {}))
    given = "is missing" if error["type"] == "missing" else f"= {error['input']!r} is not {expected}"
    return f"{'.'.join(keys)} {given}; write it like {_KEYS[keys[0]]}"


def _refuse_blank(problem: Problem, where: str) -> None:
    for key in ("title", "unit"):
        if not getattr(problem, key).strip():
            raise ProblemError(f"{where}: {key} = {getattr(problem, key)!r} is empty; write it like {_KEYS[key]}")
    if problem.stream is not None:
        labels = problem.stream.labels
        if not labels or len(set(labels)) < len(labels) or not all(label.strip() for label in labels):
            raise ProblemError(
                f"{where}: stream.labels = {list(labels)!r} does not name each curve; write it like {_KEYS['stream']}"
            )


def _check_kind(problem: Problem, where: str) -> None:
    if problem.kind == "tests" and problem.contract is None:
        raise ProblemError(f"{where}: contract is missing; write it like {_KEYS['contract']}")
    if problem.kind != "tests" and problem.contract is not None:
        raise ProblemError(f'{where}: contract = {problem.contract!r} is for kind = "tests" only; take it out')
    for key in ("oracle", "stream", "closed"):
        if problem.kind == "tests" and getattr(problem, key):
            raise ProblemError(f'{where}: {key} has no meaning where kind = "tests"; take it out')


def _entry_points(table: Any, where: str) -> tuple[EntryPoint, ...]:
    where = f"{where}: entry_points"
    if not isinstance(table, dict) or not table:
        raise ProblemError(f"{where} = {table!r} names nothing to define; write it like {_KEYS['entry_points']}")
    return tuple(_entry_point(f"{where}: {name}", name, value) for name, value in table.items())


def _entry_point(where: str, name: str, value: Any) -> EntryPoint:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ProblemError(f"{where} is no name that python code can define; write one like layer_norm_forward")
    if value == "constant":
        return EntryPoint(name=name, kind="constant")
    if isinstance(value, str):
        return EntryPoint(name=name, kind="function", signatures={"": _signature(where, value)})
    if not isinstance(value, dict):
        raise ProblemError(
            f'{where} = {value!r} is neither "(x, ...)" for a function nor "constant" nor a table for a class'
        )
    if "constructor" not in value:
        raise ProblemError(f"{where}: constructor is missing; give a class {_CLASS}")
    signatures = {}
    for method, text in value.items():
        if not method.isidentifier():
            raise ProblemError(f"{where}: {method!r} is no name of a method; give a class {_CLASS}")
        signatures["__init__" if method == "constructor" else method] = _signature(f"{where}: {method}", text)
    return EntryPoint(name=name, kind="class", signatures=signatures)


def _signature(where: str, text: Any) -> str:
    if not isinstance(text, str):
        raise ProblemError(f'{where} = {text!r} is no parameter list in quotes; write it as "(x, mask=None)"')
    try:
        parameters = parse_signature(text).parameters
    except ValueError as exc:
        raise ProblemError(f"{where}: {exc}") from exc
    if next(iter(parameters), None) == "self":
        raise ProblemError(f"{where} = {text!r} begins with self; leave it out, it is not given by the caller")
    return text
