"""The student's folder: where submissions live, which file a command means, and where a stub goes.

submissions/            the nearest one from the working directory upwards, or made there
  layer-norm.py         what `judge start layer-norm` wrote and the student edits
  layer-norm.1.py       an older one, kept by `judge start layer-norm --force`
  attempts.db           the record of attempts (progress.py)
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from judge.errors import UsageError
from judge.suggest import closest

FOLDER = "submissions"


@dataclass(frozen=True, slots=True)
class Started:
    """A stub that was written, and where the file that stood there before is kept."""

    path: Path
    kept: Path | None = None


def find(start: Path) -> Path | None:
    """Find the nearest ``submissions`` folder in ``start`` or above it."""
    for folder in (start, *start.parents):
        if (folder / FOLDER).is_dir():
            return folder / FOLDER
    return None


def find_or_make(start: Path) -> Path:
    """Find the nearest ``submissions`` folder, or make one in ``start``."""
    folder = find(start)
    if folder is not None:
        return folder
    folder = start / FOLDER
    try:
        folder.mkdir()
    except OSError as exc:
        raise UsageError(
            f"{folder}: the folder can't be made ({exc.strerror}); go to one that you may write to"
        ) from exc
    return folder


def submission_file(problem_id: str, given: Path | None, start: Path) -> Path:
    """Choose the file that a submit means: the given one, or the problem's in the submissions folder.

    A file that is there in whatever form is chosen; whether it can be judged is another station's question.
    """
    if given is not None:
        if os.path.lexists(given):
            return given
        raise UsageError(missing(given, start))
    expected = expected_file(problem_id, None, start)
    if os.path.lexists(start / expected):
        return expected
    close = _similar_file(problem_id, (find(start), start), start)
    hint = f"; did you mean {close}? Or else" if close else ";"
    raise UsageError(f"{expected}: there is no such file{hint} judge start {problem_id} writes a stub to begin with")


def missing(path: Path, start: Path, what: str = "file") -> str:
    """Say that a file is not there, and which one may have been meant: beside it, or among the submissions."""
    if os.path.islink(path):
        return f"{path}: is a link to {os.readlink(path)}, which is not there; mend the link, or name the file itself"
    close = _similar_file(path.stem, (path.parent, find(start)), start)
    lacking = f"such {what}" if os.path.lexists(path.parent) else f"folder {path.parent}"
    return f"{path}: there is no {lacking}; {f'did you mean {close}?' if close else f'name a {what} that is there'}"


def expected_file(problem_id: str, given: Path | None, start: Path) -> Path:
    """Name the file that a command means, whether it is there or not."""
    if given is not None:
        return given
    folder = find(start) or start / FOLDER
    return Path(shown(existing_file(problem_id, folder) or folder / f"{problem_id}.py", start))


def existing_file(problem_id: str, folder: Path) -> Path | None:
    """Find the problem's file in a submissions folder, spelled with hyphens or with underscores."""
    for name in (f"{problem_id}.py", f"{problem_id.replace('-', '_')}.py"):
        if os.path.lexists(folder / name):
            return folder / name
    return None


def write_stub(problem_id: str, stub: bytes, start: Path, *, force: bool = False) -> Started:
    """Write a problem's stub where its submission belongs; a file that is there is never lost.

    Raises UsageError if there is one, unless ``force``: then it is kept beside the new one as ``ID.1.py``, ``ID.2.py``.
    """
    folder = find_or_make(start)
    present = existing_file(problem_id, folder)
    path = present or folder / f"{problem_id}.py"
    if present is not None and not force:
        raise UsageError(
            f"{shown(path, start)} is there already and stays as it is; "
            f"--force writes a fresh stub and keeps the old file beside it"
        )
    try:
        kept = None if present is None else _keep(present)
        _write_at_once(path, stub)
    except OSError as exc:
        raise UsageError(f"{shown(path, start)}: the stub can't be written ({exc.strerror})") from exc
    return Started(path, kept)


def write_new(path: Path, text: str) -> None:
    """Write a file that must not be there yet."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as exc:
        raise UsageError(f"{path} is there already and stays as it is; name another file") from exc
    except OSError as exc:
        raise UsageError(f"{path}: the file can't be written ({exc.strerror})") from exc


def place(path: Path, *suffixes: str) -> Path:
    """Find the file that a path means, links followed, and make sure that it can be written; nothing is changed.

    Raises UsageError if its name has none of the ``suffixes``, if it is no ordinary file, or if its folder is not there
    or can't be written to.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file in it, such as {path / f'report{suffixes[0]}'}")
    if path.suffix.lower() not in suffixes:
        raise UsageError(f"{path}: the file's name must end in {' or '.join(suffixes)}")
    real = Path(os.path.realpath(path))
    if real.exists() and not real.is_file():
        raise UsageError(f"{path} is no ordinary file; name another")
    if not real.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}; make it first, or name a file in another")
    partial = _partial(real)
    try:
        partial.touch(exist_ok=True)
        partial.unlink()
    except OSError as exc:
        raise UsageError(
            f"{path}: the file can't be written ({exc.strerror}); name one in a folder that you may write to"
        ) from exc
    return real


def write_over(path: Path, content: bytes) -> None:
    """Write a file at once, in the place of one that may be there."""
    try:
        _write_at_once(path, content)
    except OSError as exc:
        raise UsageError(f"{path}: the file can't be written ({exc.strerror})") from exc


def shown(path: Path, start: Path) -> str:
    """Spell a path as short as it can be typed from ``start``."""
    with contextlib.suppress(ValueError):  # on another drive
        relative = os.path.relpath(path, start)
        return relative if len(relative) <= len(str(path)) else str(path)
    return str(path)


def only(cases: Sequence[str]) -> str:
    """Give the one case that a script is written for."""
    if len(cases) != 1:
        raise UsageError(f"--save writes one case as a script, not {len(cases)}; name it with --case NAME")
    return cases[0]


def _similar_file(stem: str, folders: Iterable[Path | None], start: Path) -> str | None:
    """Spell the file whose name is most like it; what all names share, the folder and the suffix, says nothing."""
    for folder in folders:
        if folder is not None and folder.is_dir():
            files = {entry.stem: entry for entry in folder.iterdir() if entry.suffix == ".py" and entry.is_file()}
            close = closest(stem, files)
            if close:
                return shown(files[close], start)
    return None


def _keep(path: Path) -> Path:
    """Copy a file beside itself under the first free number; the copy is exclusive, so no older one is overwritten."""
    content = path.read_bytes()
    for number in count(1):
        kept = path.with_name(f"{path.stem}.{number}{path.suffix}")
        with contextlib.suppress(FileExistsError), kept.open("xb") as file:
            file.write(content)
            return kept
    raise AssertionError("unreachable: count never ends")


def _write_at_once(path: Path, content: bytes) -> None:
    """Write beside the file and rename, so that a full disk leaves the old file whole."""
    partial = _partial(path)
    try:
        partial.write_bytes(content)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _partial(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.partial")


def python_files(paths: Sequence[Path]) -> list[Path]:
    """List the files that are meant: those given, and all .py files in the folders given. Raises UsageError."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(one for one in path.rglob("*.py") if one.is_file())
            if not inside:
                raise UsageError(f"{path}: the folder holds no .py file")
            files += inside
        elif path.exists():
            files.append(path)
        else:
            raise UsageError(missing(path, Path.cwd(), "file or folder"))
    return list(dict.fromkeys(files))
