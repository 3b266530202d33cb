"""A student's file as units of code: what each calls, which others it names, and which are ever reached.

The tree is read in the order in which Python runs it: the body of a def after everything around it, so that it sees
names as they are when it is called. An entry point reaches what it names, and so on; a class its methods; the import
of the file runs every statement of the module (but an ``if __name__ == "__main__"``) and reaches what they call. What
never runs (unreachable.py) is a unit of its own, which nothing reaches.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Sequence

from judge.bindings import bindings, defaults_of, names_bound_by
from judge.meanings import UNKNOWN, Meaning, Scope, Unit, imported
from judge.unreachable import LEAVES, flags, truth

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Row = ast.Tuple | ast.List
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


class Reach:
    """A file, read once: its ``units`` in the order in which they were met."""

    def __init__(self, tree: ast.Module):
        self.units: list[Unit] = []
        self._module = Scope("module")
        self._flags = flags(tree)
        self._waiting: deque[tuple[_Function, Scope, Unit]] = deque()
        for statement in tree.body:
            if isinstance(statement, ast.If) and _is_main_guard(statement.test):
                self._block(statement.body, self._module, self._unit())
                self._block(statement.orelse, self._module, self._unit(runs_at_import=True))
            else:
                self._statement(statement, self._module, self._unit(runs_at_import=True), surely=True)
        while self._waiting:
            self._function(*self._waiting.popleft())

    def reached(self, entry_points: Iterable[str]) -> frozenset[Unit]:
        """Give the units that the entry points or the import of the file get to."""
        at_import = [unit for unit in self.units if unit.runs_at_import]
        waiting = [unit for name in entry_points for unit in self._module.names.get(name, UNKNOWN).units]
        waiting += [called for unit in at_import for called in unit.called]
        followed: set[Unit] = set()
        while waiting:
            unit = waiting.pop()
            if unit not in followed:
                followed.add(unit)
                waiting += unit.names
        return frozenset(followed.union(at_import))

    def _unit(self, *, runs_at_import: bool = False) -> Unit:
        self.units.append(Unit(runs_at_import))
        return self.units[-1]

    def _block(self, body: Sequence[ast.AST], scope: Scope, unit: Unit, *, surely: bool = False) -> None:
        for statement in body:
            self._statement(statement, scope, unit, surely=surely)
            if isinstance(statement, LEAVES):
                unit = self._unit()

    def _statement(self, node: ast.AST, scope: Scope, unit: Unit, *, surely: bool) -> None:
        """Read a statement, or a part of one; ``surely``: only an exception would keep it from running."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            own = self._definition(node.name, scope, unit, surely=surely)
            for part in [*node.decorator_list, *defaults_of(node.args)]:
                self._expression(part, scope, own)
            self._waiting.append((node, scope, own))
        elif isinstance(node, ast.ClassDef):
            self._class(node, scope, self._definition(node.name, scope, unit, surely=surely))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            _import(node, scope, surely=surely)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            scope.declare(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            if node.value is not None:
                self._expression(node.value, scope, unit)
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self._assign(target, node.value, scope, unit, surely=surely)
        elif isinstance(node, ast.expr):
            self._expression(node, scope, unit)
        elif isinstance(node, (ast.If, ast.While)):
            always = truth(node.test, self._flags)
            self._expression(node.test, scope, unit)
            self._block(node.body, scope, self._unit() if always is False else unit)
            leaves = always and isinstance(node, ast.If)
            self._block(node.orelse, scope, self._unit() if leaves else unit)
        else:
            for name in names_bound_by(node):
                scope.bind(name, UNKNOWN, surely=False)
            surely = surely and not hasattr(node, "body")
            for _, part in ast.iter_fields(node):
                if isinstance(part, list):  # a class pattern has names in one
                    self._block([one for one in part if isinstance(one, ast.AST)], scope, unit, surely=surely)
                elif isinstance(part, ast.AST):
                    self._statement(part, scope, unit, surely=surely)

    def _definition(self, name: str, scope: Scope, unit: Unit, *, surely: bool) -> Unit:
        own = self._unit()
        scope.bind(name, Meaning(units=(own,)), surely=surely)
        if scope.kind == "class":
            unit.names.append(own)
        return own

    def _class(self, node: ast.ClassDef, scope: Scope, own: Unit) -> None:
        for base in node.bases:
            own.calls.append((base.lineno, scope.meaning(base).dotted, []))
        for part in [*node.decorator_list, *node.bases, *node.keywords]:
            self._expression(part, scope, own)
        inside = Scope("class", scope)
        for statement in node.body:
            self._statement(statement, inside, own, surely=True)

    def _function(self, node: _Function, scope: Scope, unit: Unit) -> None:
        body: Sequence[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else node.body
        parameters = (child.arg for child in ast.walk(node.args) if isinstance(child, ast.arg))
        local = [*parameters, *(binding.name for binding in bindings(body))]
        inside = Scope("function", scope, dict.fromkeys(local, UNKNOWN))
        self._block(body, inside, unit, surely=True)

    def _assign(self, target: ast.expr, value: ast.expr, scope: Scope, unit: Unit, *, surely: bool) -> None:
        if isinstance(target, ast.Name):
            scope.bind(target.id, Meaning(scope.meaning(value).dotted, self._owner(scope, unit)), surely=surely)
        elif isinstance(target, _Row) and isinstance(value, _Row) and _pairs_up(target.elts, value.elts):
            for part, one in zip(target.elts, value.elts, strict=True):
                self._assign(part, one, scope, unit, surely=surely)
        else:
            self._expression(target, scope, unit)

    def _owner(self, scope: Scope, unit: Unit) -> tuple[Unit, ...]:
        """The unit that naming a variable reaches: the statement that makes it, unless one is in it already."""
        return (unit,) if scope is self._module else ()

    def _expression(self, node: ast.AST, scope: Scope, unit: Unit) -> None:
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                unit.names += scope.find(node.id).units
            else:
                scope.bind(node.id, Meaning(units=self._owner(scope, unit)), surely=False)
            return
        if isinstance(node, ast.NamedExpr):
            self._expression(node.value, scope, unit)
            self._assign(node.target, node.value, _around_comprehensions(scope), unit, surely=False)
            return
        if isinstance(node, ast.Lambda):
            own = self._unit()
            unit.names.append(own)
            self._waiting.append((node, scope, own))
        elif isinstance(node, _Comprehension):
            bound = (name for generator in node.generators for name in bindings([generator.target]))
            scope = Scope("comprehension", scope, {binding.name: UNKNOWN for binding in bound})
        elif isinstance(node, ast.Call):
            meaning = scope.meaning(node.func)
            unit.called += meaning.units
            unit.calls.append((node.lineno, meaning.dotted, node.keywords))
        for child in defaults_of(node.args) if isinstance(node, ast.Lambda) else ast.iter_child_nodes(node):
            self._expression(child, scope, unit)


def _import(node: ast.Import | ast.ImportFrom, scope: Scope, *, surely: bool) -> None:
    for alias in node.names:
        if isinstance(node, ast.Import):
            first = alias.name.partition(".")[0]
            scope.bind(alias.asname or first, imported(alias.name if alias.asname else first), surely=surely)
        elif alias.name == "*":
            scope.bind_all_of(node.module or "")
        else:
            source = "" if node.level else f"{node.module}.{alias.name}"
            scope.bind(alias.asname or alias.name, imported(source), surely=surely)


def _pairs_up(targets: list[ast.expr], values: list[ast.expr]) -> bool:
    starred = any(isinstance(part, ast.Starred) for part in [*targets, *values])
    return len(targets) == len(values) and not starred


def _around_comprehensions(scope: Scope) -> Scope:
    while scope.kind == "comprehension" and scope.outer is not None:
        scope = scope.outer
    return scope


def _is_main_guard(test: ast.expr) -> bool:
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return any(
        isinstance(part, ast.Compare)
        and isinstance(part.ops[0], ast.Eq)
        and {ast.unparse(part.left), ast.unparse(part.comparators[0])} == {"__name__", "'__main__'"}
        for part in parts
    )
