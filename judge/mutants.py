"""hidden/mutants.toml: the seeded bugs of a problem, as edits of hidden/reference.py.

    [eps_outside_the_root]
    before = "inverse = torch.rsqrt(variance + eps)"
    after  = "inverse = 1 / (variance.sqrt() + eps)"
    kills  = ["tiny_inputs"]
    what   = "adds eps outside the square root"
    idea   = "eps keeps the variance away from zero, so it belongs under the root"

Where the answer is a file of tests there are no cases to name: instead of ``kills`` stands the ``behaviour`` that the
bug breaks, one of BEHAVIOURS. A bug that needs two to four edits lists them as ``[[name.edits]]``. See edits.py for
what an edit is.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.counted import counted
from judge.edits import Edit, EditError, apply, find_patches, overlap
from judge.errors import ProblemError
from judge.parsing import parse
from judge.problem_files import read_text, read_toml, refuse_unknown_keys, shown

MUTANTS = "hidden/mutants.toml"
REFERENCE = "hidden/reference.py"

_EDIT_KEYS = ("before", "after", "within")
_TEXT_KEYS = ("kills", "what", "idea")
BEHAVIOURS = (
    "values", "masks", "fully masked rows and their gradients", "scale", "stability", "shapes", "dtype",
    "inputs unchanged", "eps", "gamma and beta", "depth", "errors",
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A seeded bug: ``what`` it does, the ``idea`` that it misses, the cases that it must be caught by.

    ``behaviour``: what it breaks, where the answer is a file of tests; then it names no cases.
    """

    name: str
    what: str
    idea: str
    kills: tuple[str, ...]
    edits: tuple[Edit, ...]
    behaviour: str
    reference: str = field(repr=False)
    where: str = field(repr=False)

    @functools.cached_property
    def source(self) -> str:
        """The reference with the bug. Raises ProblemError where the edits can't be made."""
        try:
            return mutate(self.reference, self.edits)
        except ProblemError as exc:
            raise ProblemError(f"{self.where}: {exc}") from exc


def load_mutants(folder: Path, *, for_tests: bool = False, made: bool = True) -> tuple[Mutant, ...]:
    """Load the mutants of a problem's folder, in the file's order. Raises ProblemError.

    ``for_tests``: they name a behaviour, not cases. ``made``: make all edits now, not when a source is asked for.
    """
    reference = read_text(folder, REFERENCE)
    try:
        parse(reference)
    except SyntaxError as exc:
        raise ProblemError(f"{shown(folder, REFERENCE)}: line {exc.lineno}: does not parse: {exc.msg}") from exc
    tables = read_toml(folder, MUTANTS)
    mutants = tuple(
        _mutant(f"{shown(folder, MUTANTS)}: {name}", name, tables[name], reference, for_tests) for name in tables
    )
    if made:
        for mutant in mutants:
            _ = mutant.source
    return mutants


def mutate(reference_source: str, edits: Sequence[Edit]) -> str:
    """Make the edits. Raises ProblemError with the key and the value that is wrong."""
    try:
        patches = find_patches(reference_source, edits)
        if overlap(patches):
            raise EditError("before", edits[-1].before, "two edits touch the same statement; make them one")
        mutated = apply(reference_source, patches)
        try:
            parse(mutated)
        except SyntaxError as exc:
            raise EditError(
                "after", edits[-1].after, f"the result does not parse: line {exc.lineno}: {exc.msg}"
            ) from exc
    except EditError as exc:
        raise ProblemError(str(exc)) from exc
    return mutated


def compose(reference_source: str, first: Mutant, second: Mutant) -> str | None:
    """Make both bugs at once, or give None where they touch the same statement."""
    patches = find_patches(reference_source, first.edits + second.edits)
    return None if overlap(patches) else apply(reference_source, patches)


def _mutant(where: str, name: str, table: Any, reference: str, for_tests: bool) -> Mutant:
    if not isinstance(table, dict):
        raise ProblemError(f"{where} = {table!r} stands outside of a mutant; begin one with [its_name]")
    has_edits = "edits" in table
    keys = ("behaviour", *_TEXT_KEYS[1:]) if for_tests else _TEXT_KEYS
    refuse_unknown_keys(where, table, (*keys, "edits") if has_edits else (*_EDIT_KEYS, *keys))
    edits = (
        tuple(_edit(place, one) for place, one in _edit_tables(where, table)) if has_edits else (_edit(where, table),)
    )
    what, idea = _text(where, table, "what"), _text(where, table, "idea")
    kills, behaviour = ((), _behaviour(where, table)) if for_tests else (_kills(where, table), "")
    return Mutant(name, what, idea, kills, edits, behaviour, reference, where)


def _edit_tables(where: str, table: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    tables = table["edits"]
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise ProblemError(f"{where}: edits = {tables!r} is no list of tables; begin each edit with [[its_name.edits]]")
    if not 2 <= len(tables) <= 4:
        raise ProblemError(
            f"{where}: edits has {counted(len(tables), 'table')}; give two to four, or a single edit without a list"
        )
    for number, one in enumerate(tables, start=1):
        refuse_unknown_keys(f"{where}: edits {number}", one, _EDIT_KEYS)
    return [(f"{where}: edits {number}", one) for number, one in enumerate(tables, start=1)]


def _edit(where: str, table: dict[str, Any]) -> Edit:
    before = _text(where, table, "before")
    if "after" not in table:
        raise ProblemError(f"{where}: after is missing; {_PURPOSES['after']}")
    after = table["after"]
    if not isinstance(after, str):
        raise ProblemError(f"{where}: after = {after!r} is no text; {_PURPOSES['after']}")
    within = _text(where, table, "within") if "within" in table else None
    return Edit(before, after, within)


def _text(where: str, table: dict[str, Any], key: str) -> str:
    if key not in table:
        raise ProblemError(f"{where}: {key} is missing; {_PURPOSES[key]}")
    value = table[key]
    if not isinstance(value, str) or not value.strip():
        raise ProblemError(f"{where}: {key} = {value!r} is no text; {_PURPOSES[key]}")
    return value if key == "before" else " ".join(value.split())


def _behaviour(where: str, table: dict[str, Any]) -> str:
    behaviour = _text(where, table, "behaviour")
    if behaviour not in BEHAVIOURS:
        known = ", ".join(BEHAVIOURS)
        raise ProblemError(f"{where}: behaviour = {behaviour!r} is none that a bug can break; write one of: {known}")
    return behaviour


def _kills(where: str, table: dict[str, Any]) -> tuple[str, ...]:
    if "kills" not in table:
        raise ProblemError(f"{where}: kills is missing; {_PURPOSES['kills']}")
    kills = table["kills"]
    if not isinstance(kills, list) or not kills or not all(isinstance(one, str) and one for one in kills):
        raise ProblemError(f"{where}: kills = {kills!r} is no list of names; {_PURPOSES['kills']}")
    for name in kills:
        if kills.count(name) > 1:
            raise ProblemError(f"{where}: kills names {name!r} twice; name each case once")
    return tuple(kills)


_PURPOSES = {
    "before": "copy one statement of hidden/reference.py",
    "after": 'write the code that replaces before, or "" to take it out',
    "within": "name the function or Class.method that is meant",
    "what": "say what the bug does, as in 'your code behaves exactly like one that ...'",
    "idea": "say in a sentence what the student should think of",
    "behaviour": "name what the bug breaks, such as masks",
    "kills": "name the cases that must catch it",
}
