"""Which branches of a file can't run, as far as the text alone tells: `if False`, a flag that is set once and is false.

Code that gets around this (by setting the flag from elsewhere) is seen by the guard when it runs.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)  # what stands behind one of these in its block never runs


def flags(tree: ast.Module) -> dict[str, bool]:
    """The truth of the module's names that are bound once in the whole file, to a constant."""
    counts = Counter(_bound(tree))
    found: dict[str, bool] = {}
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        value = getattr(statement, "value", None)
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(value, ast.Constant):
            for target in targets:
                if isinstance(target, ast.Name) and counts[target.id] == 1:
                    found[target.id] = bool(value.value)
    return found


def truth(test: ast.expr, known: Mapping[str, bool]) -> bool | None:
    """What a condition always is, or None where that depends."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Name):
        return False if test.id == "TYPE_CHECKING" else known.get(test.id)
    if isinstance(test, ast.Attribute):
        return False if test.attr == "TYPE_CHECKING" else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = truth(test.operand, known)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        decides = isinstance(test.op, ast.Or)
        parts = {truth(part, known) for part in test.values}
        return decides if decides in parts else None if None in parts else not decides
    return None


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names
