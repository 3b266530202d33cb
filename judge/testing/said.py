"""What a student's worker says about a run, each frame of it hostile text: only what has the right form is taken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from judge.worker_events import Lost, LostStatus

_OUTCOMES = ("passed", "failed", "skipped", "xfailed", "xpassed")
_PASSED_ON = {"type": str, "call": int, "name": str, "grad": bool, "dtype": str, "forget": list, "wanted": list}


@dataclass(frozen=True, slots=True)
class Item:
    """A test as it was collected."""

    name: str
    sentence: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a test ended: passed, failed, skipped, xfailed or xpassed, and what it said where it failed."""

    kind: str
    message: str = ""
    line: int | None = None


@dataclass(slots=True)
class Run:
    """What came of one run, outcomes in the order in which the tests ran.

    ``lost``: it did not end by itself, during the test ``at`` if one had begun.
    """

    items: tuple[Item, ...] | None = None
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    error: Lost | None = None  # while the file was imported or its tests were collected
    lost: Lost | None = None
    at: int | None = None
    printed: dict[int, bytes] = field(default_factory=dict)
    peak_mib: float = 0.0


def import_error(header: dict[str, Any]) -> Lost | None:
    """What the import of the file raised, if it did."""
    error = header.get("error")
    if error is None:
        return None
    if not isinstance(error, dict):
        return Lost("runtime error", "the import's answer can't be read")
    status: LostStatus = "memory limit" if error.get("kind") == "memory" else "runtime error"
    message = f"importing the file raises {_text(error.get('type'), 80)}: {_text(error.get('message'), 2000)}"
    return Lost(status, message, _number(error.get("line")), _texts(error.get("traceback")))


def collection_error(header: dict[str, Any]) -> Lost | None:
    """What pytest said while it looked for tests, if it could not go on."""
    said = _text(header.get("error"), 1000)
    return Lost("runtime error", f"collecting the tests fails: {said}") if said else None


def items(header: dict[str, Any]) -> tuple[Item, ...]:
    """The tests that were collected."""
    tests = header.get("tests")
    rows = tests if isinstance(tests, list) else []
    fine = [row for row in rows if isinstance(row, list) and len(row) == 3]
    return tuple(Item(_text(name, 120), _text(sentence, 200), _number(line)) for name, sentence, line in fine)


def outcome(header: dict[str, Any]) -> Outcome:
    """How a test ended; what can't be understood is a failure."""
    kind = header.get("outcome")
    return Outcome(
        str(kind) if kind in _OUTCOMES else "failed", _text(header.get("message"), 1000), _number(header.get("line"))
    )


def plain(header: dict[str, Any]) -> dict[str, Any]:
    """What of a call's header is passed on: nothing nested, whose writing might fail here."""
    known = {key: header[key] for key, kind in _PASSED_ON.items() if type(header.get(key)) is kind}
    return {key: value for key, value in known.items() if type(value) is not list or all(map(_whole, value))}


def _whole(value: Any) -> bool:
    return type(value) is int


def _text(value: Any, most: int) -> str:
    return value[:most] if isinstance(value, str) else ""


def _number(value: Any) -> int | None:
    return value if type(value) is int and 0 < value < 1 << 31 else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(_text(one, 200) for one in value[:10]) if isinstance(value, list) else ()
