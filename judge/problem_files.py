"""Reading the files of a problem folder; what is wrong with one is said with the file's name.

    problems/layer-norm/problem.toml: line 3, column 9: invalid value; mend the toml there

Standard library only (and tomli before Python 3.11): the oracle worker imports this.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from judge.errors import ProblemError
from judge.suggest import did_you_mean

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_PLACE = re.compile(r"\s*\(at (.+)\)$")


def shown(folder: Path, name: str) -> str:
    """Spell a file of a problem folder for a message, from problems/ on, whatever lies above."""
    return "/".join((folder.parent.name, folder.name, name)).lstrip("/")


def read_text(folder: Path, name: str) -> str:
    """Read a UTF-8 file of a problem folder."""
    where = shown(folder, name)
    try:
        return (folder / name).read_text(encoding="utf-8")
    except FileNotFoundError as exc:
        raise ProblemError(f"{where}: the file is missing; every problem needs it") from exc
    except UnicodeDecodeError as exc:
        raise ProblemError(f"{where}: byte {exc.start + 1} is not utf-8; save the file as utf-8") from exc
    except OSError as exc:
        raise ProblemError(f"{where}: the file can't be read ({exc.strerror}); make it a readable file") from exc


def read_toml(folder: Path, name: str) -> dict[str, Any]:
    """Read a TOML file of a problem folder."""
    text = read_text(folder, name)
    try:
        table: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        message, place = str(exc), "somewhere"
        found = _PLACE.search(message)
        if found:
            message, place = message[: found.start()], found[1]
        message = message[:1].lower() + message[1:]
        raise ProblemError(f"{shown(folder, name)}: {place}: {message}; mend the toml there") from exc
    return table


def refuse_unknown_keys(where: str, given: Iterable[str], known: Collection[str]) -> None:
    """Raise for the first key that is not known; ``where`` names the file and, in it, the table."""
    for key in given:
        if key not in known:
            hint = did_you_mean(key, known) or f"; the keys here are {', '.join(known)}"
            raise ProblemError(f"{where}: unknown key {key!r}{hint}")
