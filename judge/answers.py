"""A file of plain answers: its values are read from the syntax tree, and nothing in it is ever executed.

Allowed are a docstring, comments, `NAME = literal` and `NAME: type = literal`, each name once. Literals are str, int,
float, bool, None, and lists, tuples (which count as lists) and dicts of these.
"""

from __future__ import annotations

import ast
from typing import Any

from judge.errors import SubmissionError

_PLAIN = (str, int, float, bool, type(None))


def read_answers(tree: ast.Module) -> dict[str, Any]:
    """The values by name. Raises SubmissionError with the line of whatever else stands there."""
    answers: dict[str, Any] = {}
    for position, statement in enumerate(tree.body):
        if position == 0 and isinstance(statement, ast.Expr) and _is_text(statement.value):
            continue
        name, value = _assignment(statement)
        if name in answers:
            raise _refusal(statement, f"{name} is given twice; give each name once")
        answers[name] = _literal(value)
    return answers


def _assignment(statement: ast.stmt) -> tuple[str, ast.expr]:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        target = statement.target
    else:
        raise _refusal(statement, "this file holds answers only; write NAME = literal")
    if not isinstance(target, ast.Name) or statement.value is None:
        raise _refusal(statement, "an answer is given to a plain name; write NAME = literal")
    return target.id, statement.value


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, _PLAIN):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _literal(node.operand)
        if type(value) in (int, float):
            return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_literal(part) for part in node.elts]
    if isinstance(node, ast.Dict) and all(key is not None for key in node.keys):
        keys = [_literal(key) for key in node.keys if key is not None]
        if all(isinstance(key, _PLAIN) for key in keys):
            return dict(zip(keys, map(_literal, node.values), strict=True))
    raise _refusal(node, "an answer is a literal: a text, a number, True, False, None, or a list or dict of these")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _refusal(node: ast.stmt | ast.expr, message: str) -> SubmissionError:
    return SubmissionError(message, line=node.lineno, column=node.col_offset + 1)
