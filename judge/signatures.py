"""Parameter lists: a contract's as written in problem.toml, a student's from the syntax tree, and whether they agree.

They agree when every call that the contract allows can be made: the required parameters alone or all of them, each by
position or by keyword. Nothing is said of a call that ``*args`` and ``**kwargs`` may take in some way of their own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from inspect import Parameter, Signature
from typing import Any

from judge.parsing import parse

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_SWALLOWING = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def parse_signature(text: str) -> Signature:
    """Read ``(x, gamma, eps=1e-5)``; the defaults are kept as their text. Raises ValueError."""
    try:
        body = parse(f"def contract{text}: pass").body
    except SyntaxError as exc:
        raise ValueError(f"{text!r} is no parameter list; write it as (x, gamma, eps=1e-5)") from exc
    contract = body[0]
    if len(body) != 1 or not isinstance(contract, ast.FunctionDef) or contract.returns is not None:
        raise ValueError(f"{text!r} is more than a parameter list; write it as (x, gamma, eps=1e-5)")
    return signature_of(contract.args)


def signature_of(arguments: ast.arguments) -> Signature:
    """Make a signature of a def's parameters, without annotations; the defaults are kept as their text."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + [*arguments.defaults]
    parameters = []
    for number, (argument, default) in enumerate(zip(positional, defaults, strict=True)):
        kind = _POSITIONAL[number >= len(arguments.posonlyargs)]
        parameters.append(Parameter(argument.arg, kind, default=_text(default)))
    if arguments.vararg:
        parameters.append(Parameter(arguments.vararg.arg, Parameter.VAR_POSITIONAL))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters.append(Parameter(argument.arg, Parameter.KEYWORD_ONLY, default=_text(default)))
    if arguments.kwarg:
        parameters.append(Parameter(arguments.kwarg.arg, Parameter.VAR_KEYWORD))
    return Signature(parameters)


def show(signature: Signature) -> str:
    """Write a signature as it stands in code."""
    return str(signature.replace(parameters=[_shown(p) for p in signature.parameters.values()]))


def without_self(signature: Signature) -> Signature | None:
    """Give a method's signature as its callers see it, or None if it can't take the instance."""
    parameters = list(signature.parameters.values())
    if parameters and parameters[0].kind in _POSITIONAL:
        return signature.replace(parameters=parameters[1:])
    takes_any = any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in parameters)
    return signature if takes_any else None


def mismatch(given: Signature, asked: Signature, *, keywords_only: bool = False) -> str | None:
    """Say why ``given`` can't take a call that ``asked`` allows, or None if it can take them all."""
    if all(_takes(given, asked, args, kwargs) for args, kwargs in _calls(asked, keywords_only)):
        return None
    return _reason(given, asked, keywords_only)


def _calls(asked: Signature, keywords_only: bool) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Every way to call a contract; each argument is the name of its own parameter."""
    parameters = list(asked.parameters.values())
    plain = [p for p in parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    named = [p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY]
    extra = ["*"] * 2 if any(p.kind is Parameter.VAR_POSITIONAL for p in parameters) else []
    for chosen in (plain, [p for p in plain if p.default is Parameter.empty]):
        names = [p.name for p in chosen]
        for by_position in range(1 if keywords_only else len(names) + 1):
            yield names[:by_position], {name: name for name in [*names[by_position:], *named]}
    if extra:
        yield [p.name for p in plain] + extra, {name: name for name in named}


def _takes(given: Signature, asked: Signature, args: list[str], kwargs: dict[str, str]) -> bool:
    try:
        bound = given.bind(*args, **kwargs)
    except TypeError:
        return False
    elsewhere = (
        name in asked.parameters or wanted in given.parameters
        for name, wanted in bound.arguments.items()
        if given.parameters[name].kind in _POSITIONAL and name != wanted
    )
    return not any(elsewhere)


def _reason(given: Signature, asked: Signature, keywords_only: bool) -> str:
    takes_any = {parameter.kind for parameter in given.parameters.values()}
    positional = [p for p in given.parameters.values() if p.kind in _POSITIONAL]
    for number, wanted in enumerate(asked.parameters.values()):
        if wanted.kind in _SWALLOWING:
            if wanted.kind not in takes_any:
                return f"it takes no {_shown(wanted)}"
            continue
        mine = given.parameters.get(wanted.name)
        there = positional[number].name if number < len(positional) else None
        if there is not None and there not in asked.parameters and not keywords_only:
            return f"parameter {number + 1} is {there!r} where {wanted.name!r} is asked"
        if mine is None or mine.kind in _SWALLOWING:
            return f"{wanted.name!r} is missing"
        if mine.kind is Parameter.POSITIONAL_ONLY:
            return f"{wanted.name!r} can't be given by keyword, as it stands before the /"
        if mine.kind is Parameter.KEYWORD_ONLY and wanted.kind is not mine.kind and not keywords_only:
            return f"{wanted.name!r} can't be given by position, as it stands after a *"
        if there != wanted.name and wanted.kind is Parameter.POSITIONAL_OR_KEYWORD and not keywords_only:
            return f"{wanted.name!r} is not parameter {number + 1}"
        if mine.default is Parameter.empty and wanted.default is not Parameter.empty:
            return f"{wanted.name!r} has no default; the contract's is {wanted.default}"
    for parameter in given.parameters.values():
        required = parameter.default is Parameter.empty and parameter.kind not in _SWALLOWING
        if required and parameter.name not in asked.parameters:
            return f"{parameter.name!r} is not asked, so it needs a default"
    return "it can't be called as asked"


def _text(default: ast.expr | None) -> Any:
    if default is None:
        return Parameter.empty
    return re.sub(r"(?<=\de-)0(?=\d)", "", ast.unparse(default))  # 1e-5, as people write it


def _shown(parameter: Parameter) -> Parameter:
    """The same parameter with its default shown as code, not as a string of code."""
    if parameter.default is Parameter.empty:
        return parameter
    return parameter.replace(default=_Code(parameter.default))


class _Code(str):
    """Text whose representation is the text."""

    def __repr__(self) -> str:
        return str(self)
