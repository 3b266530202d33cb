"""What stands where Python allows none of its kind: a return outside of a function, a break outside of a loop.

The parser lets them pass and the compiler refuses them, but compiling is not for a stranger's file: twenty nested
``finally`` blocks, 600 bytes, take it half a minute and 3 GiB.
"""

from __future__ import annotations

import ast

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_IN_FUNCTIONS: dict[type[ast.AST], str] = {
    ast.Return: "return",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Await: "await",
}
_IN_LOOPS: dict[type[ast.AST], str] = {ast.Break: "break", ast.Continue: "continue"}


def find_misplaced(tree: ast.Module) -> tuple[str, int, int] | None:
    """Find the first one: what is wrong, its line, its column from 1."""
    waiting: list[tuple[ast.AST, bool, bool]] = [(tree, False, False)]
    while waiting:
        node, in_function, in_loop = waiting.pop()
        word = _IN_FUNCTIONS.get(type(node)) if not in_function else None
        if word and isinstance(node, (ast.stmt, ast.expr)):
            return f"{word!r} outside of a function", node.lineno, node.col_offset + 1
        word = _IN_LOOPS.get(type(node)) if not in_loop else None
        if word and isinstance(node, ast.stmt):
            return f"{word!r} outside of a loop", node.lineno, node.col_offset + 1
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            in_function, in_loop = not isinstance(node, ast.ClassDef), False
        looped = {id(child) for child in node.body} if isinstance(node, _LOOPS) else ()
        for child in reversed(list(ast.iter_child_nodes(node))):
            waiting.append((child, in_function, in_loop or id(child) in looped))
    return None
