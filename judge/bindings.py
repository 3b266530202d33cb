"""The names that a file binds, in every form that binds one, read from its syntax tree.

def, async def, class            x = ..., a, b = ..., x: int = ..., x += ..., (x := ...)
import a.b, from a import b      for x in ..., with ... as x, except ... as x, case x
global x, in any function        at module level or nested there in if, try, with, for, while, match
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

# What can bind, replace or change a name where no syntax tree shows it; `modules` does only as `sys.modules`.
_UNSEEN = re.compile(
    "globals|locals|vars|setattr|exec|eval|builtins|f_globals|f_locals|"
    "__(builtins|import|dict|getattr|setattr|globals|code|defaults|kwdefaults)__"
)


@dataclass(frozen=True, slots=True)
class Binding:
    """A name and what binds it: the def, the class, the import, or the name itself where a value is stored."""

    name: str
    node: ast.AST


@dataclass(frozen=True, slots=True)
class ModuleNames:
    """What a module binds; ``certain`` if nothing in it can bind or replace a name unseen."""

    bindings: tuple[Binding, ...]
    globals: frozenset[str]
    stored_attributes: frozenset[str]
    certain: bool
    top: frozenset[ast.AST]

    def binds(self, name: str) -> bool:
        return name in self.globals or any(binding.name == name for binding in self.bindings)

    def plain_definition(self, name: str) -> Definition | None:
        """The def or class of a name that is certainly what the name stands for: alone, undecorated, not nested."""
        node = sole(self.bindings, name)
        if not self.certain or name in self.globals or node not in self.top:
            return None
        return node

    @property
    def defined(self) -> tuple[str, ...]:
        """The names that are not imported, each once, in order."""
        own = (b.name for b in self.bindings if not isinstance(b.node, (ast.Import, ast.ImportFrom)))
        return tuple(dict.fromkeys(own))


def module_names(tree: ast.Module) -> ModuleNames:
    """Collect the names of a whole file."""
    nodes = list(ast.walk(tree))
    unseen = re.compile(f"modules|{_UNSEEN.pattern}") if any(_imports(node, "sys") for node in nodes) else _UNSEEN
    return ModuleNames(
        bindings=bindings(tree.body),
        globals=frozenset(name for node in nodes if isinstance(node, ast.Global) for name in node.names),
        stored_attributes=frozenset(
            node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        ),
        certain=not any(_binds_unseen(node, unseen) for node in nodes),
        top=frozenset(tree.body),
    )


def sole(found: Iterable[Binding], name: str) -> Definition | None:
    """The undecorated def or class that is the only binding of a name."""
    nodes = [binding.node for binding in found if binding.name == name]
    if len(nodes) == 1 and isinstance(nodes[0], Definition) and not nodes[0].decorator_list:
        return nodes[0]
    return None


def bindings(body: Sequence[ast.AST]) -> tuple[Binding, ...]:
    """Collect what a body binds in its own scope, in order. Not recursive: a file may be nested deeply."""
    found: list[Binding] = []
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        found.extend(Binding(name, node) for name in names_bound_by(node))
        waiting.extend(reversed(own_scope(node)))
    return tuple(found)


def own_scope(node: ast.AST) -> list[ast.AST]:
    """The children of a node that are run in the scope that the node stands in."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [*node.decorator_list, *defaults_of(node.args)]
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    if isinstance(node, ast.Lambda):
        return [*defaults_of(node.args)]
    if isinstance(node, ast.comprehension):
        return [node.iter, *node.ifs]
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return []
    return list(ast.iter_child_nodes(node))


def defaults_of(arguments: ast.arguments) -> list[ast.expr]:
    """The default values of parameters; they are run where the def or lambda stands."""
    return [*arguments.defaults, *(default for default in arguments.kw_defaults if default is not None)]


def names_bound_by(node: ast.AST) -> list[str]:
    """The names that a node itself binds, whatever its children bind."""
    if isinstance(node, Definition):
        return [node.name]
    if isinstance(node, ast.Name):
        return [node.id] if isinstance(node.ctx, ast.Store) else []
    if isinstance(node, ast.Import):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names if alias.name != "*"]
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    if isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    return []


def _imports(node: ast.AST, module: str) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name == module for alias in node.names)
    return isinstance(node, ast.ImportFrom) and node.module == module


def _binds_unseen(node: ast.AST, unseen: re.Pattern[str]) -> bool:
    if isinstance(node, ast.Name):
        return bool(unseen.fullmatch(node.id))
    if isinstance(node, ast.Attribute):
        return bool(unseen.fullmatch(node.attr))
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return any(alias.name == "*" or unseen.fullmatch(alias.name) for alias in node.names)
    return isinstance(node, ast.FunctionDef) and bool(unseen.fullmatch(node.name))
