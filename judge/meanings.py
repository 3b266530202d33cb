"""What a name in a student's file may stand for: something imported, or a piece of the file's own code.

    import torch.nn.functional as F      F     torch.nn.functional
    norm = partial(F.layer_norm, ...)    norm  torch.nn.functional.layer_norm
    def helper(x): ...                   helper  that def

Whatever else a name is bound to (a parameter, a loop's target, a result) is unknown, and hides what lies outside.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

# Only these matter, and only so many of them: a file that is made to have more meanings is not followed.
_ROOTS = ("torch", "functools", "importlib", "builtins")
_LONGEST = 200
_MOST = 16
_MOST_STEPS = 300_000  # a second or two

# Calls that give back what they are given, in another dress.
_TRANSPARENT = frozenset({"functools.partial", "torch.compile", "torch.jit.script"})


@dataclass(slots=True, eq=False)
class Unit:
    """A piece of code that runs as a whole: a def, a class body, a lambda, a statement of the module.

    ``calls``: (line, dotted names that are called or subclassed there, the keyword arguments). ``names`` and
    ``called``: the units that it names, and those among them that it calls.
    """

    runs_at_import: bool = False
    calls: list[tuple[int, frozenset[str], list[ast.keyword]]] = field(default_factory=list)
    names: list[Unit] = field(default_factory=list)
    called: list[Unit] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Meaning:
    """All that an expression may stand for; empty if that is unknown."""

    dotted: frozenset[str] = frozenset()
    units: tuple[Unit, ...] = ()

    def __or__(self, other: Meaning) -> Meaning:
        dotted, units = self.dotted | other.dotted, tuple(dict.fromkeys(self.units + other.units))
        return Meaning(dotted if len(dotted) <= _MOST else frozenset(), units[-_MOST:])

    def attribute(self, name: str) -> Meaning:
        return Meaning(imported(*(f"{dotted}.{name}" for dotted in self.dotted)).dotted, self.units)


UNKNOWN = Meaning()


def imported(*dotted: str) -> Meaning:
    """The meaning of a name that comes from a module."""
    return Meaning(frozenset(name for name in dotted if name.split(".")[0] in _ROOTS and len(name) <= _LONGEST))


@dataclass(slots=True, eq=False)
class Scope:
    """The names of a module, a class, a function or a comprehension, as far as it has been read."""

    kind: str
    outer: Scope | None = None
    names: dict[str, Meaning] = field(default_factory=dict)
    elsewhere: dict[str, Scope] = field(default_factory=dict)  # global and nonlocal names
    stars: set[str] = field(default_factory=set)  # modules of star imports
    steps: list[int] = field(default_factory=lambda: [0])  # that were taken in the whole file

    def __post_init__(self) -> None:
        if self.outer:
            self.steps = self.outer.steps

    @property
    def module(self) -> Scope:
        scope = self
        while scope.outer is not None:
            scope = scope.outer
        return scope

    def bind_all_of(self, module: str) -> None:
        """Take note of a star import; what it binds is found where nothing else binds the name."""
        if imported(module).dotted and len(self.module.stars) < _MOST:
            self.module.stars.add(module)

    def bind(self, name: str, meaning: Meaning, *, surely: bool) -> None:
        """Give a name a meaning; one that is not surely given comes beside those that it had."""
        if name in self.elsewhere:
            self.elsewhere[name].bind(name, meaning, surely=False)
        else:
            self.names[name] = meaning if surely else self.names.get(name, UNKNOWN) | meaning

    def declare(self, node: ast.Global | ast.Nonlocal) -> None:
        """Take note that names belong to the module or to a function around."""
        for name in node.names:
            self.elsewhere[name] = self._home(name) if isinstance(node, ast.Nonlocal) else self.module

    def find(self, name: str) -> Meaning:
        """Look a name up as Python does: from inside out, classes around being skipped."""
        scope: Scope | None = self.elsewhere.get(name, self)
        while scope is not None:
            if name in scope.names and (scope is self or scope.kind != "class"):
                return scope.names[name]
            scope = scope.outer
        return imported(f"builtins.{name}", *(f"{module}.{name}" for module in self.module.stars))

    def meaning(self, node: ast.expr) -> Meaning:
        """Say what an expression may stand for."""
        self.steps[0] += 1
        if self.steps[0] > _MOST_STEPS:
            return UNKNOWN
        if isinstance(node, ast.Name):
            return self.find(node.id)
        if isinstance(node, ast.Attribute):
            return self.meaning(node.value).attribute(node.attr)
        if isinstance(node, ast.NamedExpr):
            return self.meaning(node.value)
        if isinstance(node, ast.Call) and node.args:
            return self._meaning_of_call(node, node.args[0])
        either = UNKNOWN
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            for part in [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values:
                either |= self.meaning(part)
        return either

    def _meaning_of_call(self, node: ast.Call, first: ast.expr) -> Meaning:
        function = self.meaning(node.func).dotted
        if function & _TRANSPARENT:
            return self.meaning(first)
        last = node.args[-1]
        if isinstance(last, ast.Constant) and isinstance(last.value, str):
            if "builtins.getattr" in function and len(node.args) == 2:
                return self.meaning(first).attribute(last.value)
            if "importlib.import_module" in function and last is first:
                return imported(last.value)
            if "builtins.__import__" in function and last is first:
                return imported(last.value.partition(".")[0])
        return UNKNOWN

    def _home(self, name: str) -> Scope:
        scope = self.outer
        while scope is not None and (scope.kind != "function" or name not in scope.names):
            scope = scope.outer
        return scope or self.module
