"""Where a file calls or subclasses what is closed, under whatever name, and whether that code is ever reached.

Only what the syntax tree shows: a closed function that hides in a container, an argument or an attribute is seen by
the guard when it is called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from judge.closed import canonical, split_keyword
from judge.reach import Reach

_METHODS = frozenset({"__init__", "__call__", "__new__", "__wrapped__", "forward"})  # calling one uses its class


@dataclass(frozen=True, slots=True)
class Use:
    """A closed name that a line calls or subclasses; ``reached`` if an entry point or the import gets there."""

    name: str
    line: int
    reached: bool


def closed_uses(tree: ast.Module, closed: Sequence[str], entry_points: Iterable[str]) -> tuple[Use, ...]:
    """Find the uses of closed names, each name and line once, in the file's order."""
    wanted: dict[str, list[tuple[str, bool] | None]] = {}
    for name in closed:
        dotted, keyword = split_keyword(name)
        wanted.setdefault(canonical(dotted), []).append(keyword)
    reach = Reach(tree)
    reached = reach.reached(entry_points)
    found: dict[tuple[int, str], bool] = {}
    for unit in reach.units:
        for line, dotted_names, keywords in unit.calls:
            for name in _closed_names(dotted_names, keywords, wanted):
                found[line, name] = found.get((line, name), False) or unit in reached
    return tuple(Use(name, line, found[line, name]) for line, name in sorted(found))


def _closed_names(
    dotted_names: Iterable[str], keywords: list[ast.keyword], wanted: dict[str, list[tuple[str, bool] | None]]
) -> Iterator[str]:
    for dotted in dotted_names:
        name = canonical(dotted)
        owner, _, method = name.rpartition(".")
        name = owner if owner in wanted and method in _METHODS else name
        for keyword in wanted.get(name, ()):
            if keyword is None:
                yield name
            elif any(_sets(given, *keyword) for given in keywords):
                yield f"{name}({keyword[0]}={keyword[1]})"


def _sets(given: ast.keyword, name: str, value: bool) -> bool:
    return given.arg == name and isinstance(given.value, ast.Constant) and given.value.value is value
