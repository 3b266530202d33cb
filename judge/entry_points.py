"""Whether a file defines what a problem asks for, as far as that is certain without running it.

A name is missing only if nothing can bind it; a signature is wrong only if it is that of a plain def. Everything else
(partials, decorated defs, factories, inherited methods) is judged by running it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.bindings import Definition, ModuleNames, bindings, module_names, own_scope, sole
from judge.models import EntryPoint
from judge.signatures import mismatch, parse_signature, show, signature_of, without_self
from judge.suggest import closest

_PLAIN_BASES = frozenset({"object", "Module", "nn.Module", "torch.nn.Module"})


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with an entry point, and where."""

    message: str
    line: int | None = None
    column: int | None = None


def faults(tree: ast.Module, entry_points: Sequence[EntryPoint]) -> Iterator[Fault]:
    """Give what is certainly wrong, missing names first."""
    names = module_names(tree)
    if names.certain:
        missing = [entry.name for entry in entry_points if not names.binds(entry.name)]
        if missing:
            yield Fault(_missing(missing, names))
    for entry in entry_points:
        node = names.plain_definition(entry.name)
        if node is not None:
            yield from _wrong_kind(entry, node)
            for method, contract in entry.signatures.items():
                yield from _wrong_signature(entry.name, method, contract, node, names)


def _missing(missing: list[str], names: ModuleNames) -> str:
    defined = [name for name in names.defined if name not in missing]
    what = f"it defines {', '.join(defined[:10])}{', ...' if defined[10:] else ''}" if defined else "it defines nothing"
    meant = closest(missing[0], defined)
    advice = f"; if {meant} is meant, rename it to {missing[0]}" if meant else "; define every name that is asked for"
    return f"the file does not define {', '.join(missing)}; {what}{advice}"


def _wrong_kind(entry: EntryPoint, node: Definition) -> Iterator[Fault]:
    is_class = isinstance(node, ast.ClassDef)
    if entry.kind == "function" and isinstance(node, ast.ClassDef) and _makes_instances(node):
        yield _at(node, f"{entry.name} is a class; a function {entry.name}{entry.signatures['']} is asked for")
    elif entry.kind == "constant" and not is_class:
        yield _at(node, f"{entry.name} is a function; a value is asked for, so assign one to it")


def _makes_instances(node: ast.ClassDef) -> bool:
    """Whether calling the class certainly gives an instance of it."""
    plain = all(ast.unparse(base) in _PLAIN_BASES for base in node.bases)
    return plain and not node.keywords and all(binding.name != "__new__" for binding in bindings(node.body))


def _wrong_signature(name: str, method: str, contract: str, node: Definition, names: ModuleNames) -> Iterator[Fault]:
    if isinstance(node, ast.ClassDef) != bool(method):
        return
    function: ast.AST | None = node
    if isinstance(node, ast.ClassDef):
        if node.keywords or method in names.stored_attributes:
            return
        function = sole(bindings(node.body), method)
        if function not in node.body:
            return
        name = f"{name}.{method}"
    if isinstance(function, ast.AsyncFunctionDef):
        yield _at(function, f"{name} is an async def, whose call gives no result yet; write def")
    elif isinstance(function, ast.FunctionDef):
        if _yields(function):
            yield _at(function, f"{name} contains yield, so its call gives a generator and no result; use return")
            return
        yield from _wrong_parameters(name, function, contract, bool(method))


def _wrong_parameters(name: str, function: ast.FunctionDef, contract: str, is_method: bool) -> Iterator[Fault]:
    given, asked = signature_of(function.args), parse_signature(contract)
    taken = without_self(given) if is_method else given
    if taken is None:
        yield _at(function, f"{name}{show(given)} can't take the module itself; write self as its first parameter")
        return
    reason = mismatch(taken, asked, keywords_only=name.endswith(".__init__"))
    if reason is None:
        return
    if is_method and mismatch(given, asked) is None:
        reason = "self is missing as the first parameter"
    yield _at(function, f"{name} takes {show(given)}, but {_with_self(contract, is_method)} is asked for: {reason}")


def _with_self(contract: str, is_method: bool) -> str:
    if not is_method:
        return contract
    rest = contract[1:].lstrip()
    return "(self)" if rest == ")" else f"(self, {rest}"


def _yields(function: ast.FunctionDef) -> bool:
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        waiting.extend(own_scope(node))
    return False


def _at(node: ast.stmt, message: str) -> Fault:
    return Fault(message, node.lineno, node.col_offset + 1)
