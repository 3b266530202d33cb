"""Which branches of a file can't run, as far as the text alone tells: `if False`, a flag that is set once and is false.

Where a file can bind names unseen, no flag is believed.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from judge.bindings import module_names, names_bound_by

LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)  # what stands behind one of these in its block never runs


def flags(tree: ast.Module) -> dict[str, bool]:
    """The truth of the module's names that are bound once in the whole file, to a constant."""
    if not module_names(tree).certain:
        return {}
    counts = Counter(name for node in ast.walk(tree) for name in _bound(node))
    found = {name: value for statement in tree.body for name, value in _constants(statement)}
    return {name: value for name, value in found.items() if counts[name] == 1}


def truth(test: ast.expr, known: Mapping[str, bool]) -> bool | None:
    """What a condition always is, or None where that depends."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Name):
        return known.get(test.id)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = truth(test.operand, known)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        decides = isinstance(test.op, ast.Or)
        parts = {truth(part, known) for part in test.values}
        return decides if decides in parts else None if None in parts else not decides
    return None


def _constants(statement: ast.stmt) -> Iterator[tuple[str, bool]]:
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Constant):
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            if isinstance(target, ast.Name):
                yield target.id, bool(statement.value.value)
    elif isinstance(statement, ast.ImportFrom) and statement.module == "typing" and not statement.level:
        yield from ((alias.asname or alias.name, False) for alias in statement.names if alias.name == "TYPE_CHECKING")


def _bound(node: ast.AST) -> list[str]:
    """The names that a node binds or unbinds, in whatever scope: another scope's is mistaken for the module's."""
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return node.names
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
        return [node.id]
    return names_bound_by(node)
