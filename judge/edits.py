"""Edits of a source by statement, made in its text, so that all other lines stay as they are.

before   one simple statement, or the header of an if, elif, for, while, with, def or class
after    what stands there instead: statements, nothing, or, for a header, a header
within   the function or class that is meant, where the statement stands more than once
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from judge.parsing import parse
from judge.statements import Source, Statement, is_compound
from judge.suggest import closest, did_you_mean

_HEADERS = "an if, elif, for, while, with, def or class"


class EditError(Exception):
    """An edit that can't be made, because of the value of one of its keys."""

    def __init__(self, key: str, value: str, message: str):
        super().__init__(f"{key} = {value.strip()!r}: {message}")


@dataclass(frozen=True, slots=True)
class Edit:
    """One statement or header and what replaces it."""

    before: str
    after: str
    within: str | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """An edit at its place: the bytes from ``start`` to ``end`` of the source become ``text``."""

    start: int
    end: int
    text: str


def find_patches(source: str, edits: Iterable[Edit]) -> tuple[Patch, ...]:
    """Find the place of each edit. Raises EditError."""
    return tuple(_patch(_parsed(source), edit) for edit in edits)


def overlap(patches: Iterable[Patch]) -> bool:
    """Whether two patches touch the same statement."""
    ordered = sorted(patches, key=lambda patch: patch.start)
    return any(second.start < first.end for first, second in zip(ordered, ordered[1:], strict=False))


def apply(source: str, patches: Iterable[Patch]) -> str:
    """Make the patches; they must not overlap."""
    data = source.encode()
    for patch in sorted(patches, key=lambda patch: patch.start, reverse=True):
        data = data[: patch.start] + patch.text.encode() + data[patch.end :]
    return data.decode()


_parsed = lru_cache(maxsize=4)(Source)  # a problem's mutants, and all their pairs, edit one source


def _patch(source: Source, edit: Edit) -> Patch:
    wanted = _read("before", edit.before)
    start, end = source.span(_find(source, edit, wanted))
    if wanted.is_header:
        text = _new_header(edit, wanted)
    else:
        text, needs_lines = _new_statements(edit, wanted)
        if needs_lines and not source.stands_alone(start, end):
            raise EditError("after", edit.after, "the statement shares its line with others; give one plain statement")
    return Patch(start, end, textwrap.indent(text, source.indentation(start)).lstrip())


def _find(source: Source, edit: Edit, wanted: Statement) -> Statement:
    found = everywhere = source.like(wanted)
    if edit.within is not None:
        if edit.within not in source.paths:
            hint = did_you_mean(edit.within, source.paths) or "; write function, Class or Class.method"
            raise EditError("within", edit.within, f"the reference has no such function or class{hint}")
        exactly = [one for one in everywhere if edit.within in (one.path, one.own_path)]
        found = exactly or [one for one in everywhere if one.path.startswith(f"{edit.within}.")]
    if len(found) == 1:
        return found[0]
    if found:
        can_be_told_apart = len({one.path for one in found}) == len(found)
        advice = "say which with within" if can_be_told_apart else "make the reference's statements differ"
        raise EditError("before", edit.before, f"stands {len(found)} times, {_places(found)}; {advice}")
    if everywhere:
        raise EditError("before", edit.before, f"does not stand in {edit.within!r}, but {_places(everywhere)}")
    texts = {one.text: one for one in source}
    close = closest(wanted.text, texts)
    hint = f"line {texts[close].node.lineno} is {close!r}" if close else "copy the whole code of a statement"
    raise EditError("before", edit.before, f"no statement of the reference is this; {hint}")


def _read(key: str, text: str) -> Statement:
    """Read exactly one simple statement or header."""
    text = textwrap.dedent(text).strip()
    try:
        body = parse(text).body
    except SyntaxError:
        return _read_header(key, text)
    if len(body) != 1:
        raise EditError(key, text, f"is {len(body)} statements; give exactly one")
    if is_compound(body[0]):
        raise EditError(key, text, "is a statement with its body; give the header alone, up to the colon")
    return Statement(body[0])


def _read_header(key: str, text: str) -> Statement:
    is_elif = text.startswith("elif")
    try:
        body = parse(f"if 0:\n pass\n{text}\n pass" if is_elif else f"{text}\n pass").body
    except SyntaxError as exc:
        message = f"is neither one simple statement nor the header of {_HEADERS}"
        raise EditError(key, text, message) from exc
    node = body[0].orelse[0] if is_elif and isinstance(body[0], ast.If) else body[0]
    header = Statement(node, is_elif=is_elif)
    if len(body) != 1 or not header.is_header or not _is_bare(node):
        raise EditError(key, text, f"is not exactly one header of {_HEADERS}")
    if getattr(node, "decorator_list", []):
        raise EditError(key, text, "has decorators; leave them out, they stay where they are")
    return header


def _is_bare(node: ast.stmt) -> bool:
    """Whether a header that was completed with ``pass`` has nothing else."""
    return len(getattr(node, "body", ())) == 1 and not getattr(node, "orelse", ())


def _new_header(edit: Edit, wanted: Statement) -> str:
    new = _read("after", edit.after or "pass")
    if not new.is_header or new.is_elif != wanted.is_elif:
        raise EditError("after", edit.after, "a header is replaced by a header of its kind; the body stays")
    _refuse_the_same(edit, new.key, wanted)
    return textwrap.dedent(edit.after).strip()


def _new_statements(edit: Edit, wanted: Statement) -> tuple[str, bool]:
    """The new text, and whether it needs lines of its own."""
    text = textwrap.dedent(edit.after).strip()
    try:
        body = parse(text).body
    except SyntaxError as exc:
        raise EditError("after", edit.after, f"does not parse: {exc.msg}, line {exc.lineno}") from exc
    if not body:
        text, body = "pass", [ast.Pass()]
    _refuse_the_same(edit, "".join(ast.dump(node) for node in body), wanted)
    return text, len(body) > 1 or is_compound(body[0]) or "#" in text


def _refuse_the_same(edit: Edit, new: str, wanted: Statement) -> None:
    if new == wanted.key:
        raise EditError("after", edit.after, "is the same code as before, so nothing changes")


def _places(found: Iterable[Statement]) -> str:
    return " and ".join(f"in line {one.node.lineno}" + (f" ({one.path})" if one.path else "") for one in found)
