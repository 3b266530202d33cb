"""What `judge doctor` looks at: everything the judge needs, found without importing torch."""

from __future__ import annotations

import importlib.util
import platform
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from judge import workspace
from judge.errors import Error
from judge.progress import Progress

OLDEST_PYTHON, NEWEST_PYTHON = (3, 10), (3, 14)
OLDEST_TORCH = (2, 6)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; ``remedy`` says what to do, or what follows where nothing can be done."""

    name: str
    state: str
    fine: bool = True
    needed: bool = True
    remedy: str = ""


def examine(start: Path) -> list[Check]:
    """Look at the interpreter, the packages, the isolation, the folders and the record of attempts."""
    return [
        _python(), _torch(), _package("numpy"), _package("pytest"), _drawing(), *_isolation(), _problems(),
        *_submissions(start),
    ]  # fmt: skip


def _python() -> Check:
    state = f"{platform.python_version()}, {sys.executable}"
    fine = OLDEST_PYTHON <= sys.version_info[:2] <= NEWEST_PYTHON
    return Check("python", state, fine, remedy="" if fine else "make a virtual environment with Python 3.10 to 3.14")


def _torch() -> Check:
    check = _package("torch")
    if not check.fine or _numbers(check.state) >= OLDEST_TORCH:
        return check
    oldest = ".".join(map(str, OLDEST_TORCH))
    return Check("torch", check.state, False, remedy=f"pip install --upgrade torch (at least {oldest})")


def _package(name: str) -> Check:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        version = None
    if version is None or importlib.util.find_spec(name) is None:
        return Check(name, "missing", False, remedy=f"pip install {name}")
    return Check(name, version)


def _drawing() -> Check:
    check = _package("matplotlib")
    if check.fine:
        return check
    return Check("matplotlib", "missing", needed=False, remedy="pip install 'judge[plots]' if judge stream is to draw")


def _isolation() -> Iterator[Check]:
    from judge.processes.supervision import isolation_layers

    for layer, state, remedy in isolation_layers():
        yield Check(layer, state, fine=state == "in force", needed=False, remedy=remedy)


def _problems() -> Check:
    from judge import catalog

    try:
        count = len(catalog.load_problems())
    except Error as exc:
        return Check("problems", str(exc), False, remedy="mend that file, or install the judge anew")
    return Check(
        "problems", f"{count} in {catalog.PROBLEMS}", count > 0, remedy="" if count else "install the judge anew"
    )


def _submissions(start: Path) -> Iterator[Check]:
    folder = workspace.find(start)
    if folder is None:
        yield Check("submissions", "no folder yet", remedy=f"judge start ID makes {start / workspace.FOLDER}")
    else:
        yield Check("submissions", str(folder))
    yield _attempts(folder)


def _attempts(folder: Path | None) -> Check:
    name, sentences = f"attempts, SQLite {sqlite3.sqlite_version}", list[str]()
    try:
        Progress(folder, sentences.append).standings()
    except Error as exc:
        return Check(name, str(exc), False, needed=False, remedy="verdicts are given, but not remembered")
    return Check(name, "; ".join(sentences) or "in order")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("+")[0].split(".")[:2] if part.isdigit())
