"""A path becomes a submission: opened once, checked, parsed. Nothing of it is run here.

What is refused is certain: there is no file, no text, no python, or not what the problem asks for. The same bytes then
go to every other station, so a file that changes meanwhile can't be judged as two.
"""

from __future__ import annotations

import ast
import errno
import os
import re
import stat
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from judge import workspace
from judge.answers import read_answers
from judge.closed_uses import Use, closed_uses
from judge.counted import counted
from judge.entry_points import faults
from judge.errors import SubmissionError, UsageError
from judge.misplaced import find_misplaced
from judge.models import ClosedUse, Problem, Submission
from judge.parsing import parse

MOST_BYTES = 256 * 1024
MOST_REMARKS = 10
_MOST_MARKS = 30  # as in Unicode's stream-safe format (UAX #15)

# A pipe or a device must not keep us waiting; the flags are missing on Windows.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
_COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_UTF_8 = re.compile(r"u8|utf-?8(-.*)?", re.IGNORECASE)


def read_submission(path: Path, problem: Problem) -> Submission:
    """Read a student's file. Raises UsageError if there is none, SubmissionError if it holds nothing to judge."""
    source = _read(path)
    try:
        return _checked(path, source, problem)
    except SubmissionError as exc:
        exc.source = source
        raise


def _checked(path: Path, source: bytes, problem: Problem) -> Submission:
    text = _decode(path, source, problem.id)
    try:
        tree = _parse(path, text)
        if problem.kind == "answers":
            return Submission(path=path, source=source, answers=_answers(text, tree))
        if problem.kind == "tests":
            return Submission(path=path, source=source)
        for fault in faults(tree, problem.entry_points):
            raise _refusal(path, text, fault.message, fault.line, fault.column)
        uses = closed_uses(tree, problem.closed, [entry.name for entry in problem.entry_points])
    except RecursionError as exc:
        raise _too_deep(path) from exc
    return Submission(
        path=path,
        source=source,
        remarks=_remarks(use for use in uses if not use.reached),
        closed_uses=tuple(ClosedUse(name=use.name, line=use.line) for use in uses if use.reached),
    )


def _answers(text: str, tree: ast.Module) -> dict[str, Any]:
    try:
        return read_answers(tree)
    except SubmissionError as exc:
        if exc.line:
            exc.text = _lines(text)[exc.line - 1]
        raise


def _read(path: Path) -> bytes:
    try:
        with os.fdopen(os.open(path, _FLAGS), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise _no_file(path, mode)
            source = file.read(MOST_BYTES + 1)
    except OSError as exc:
        raise _unreadable(path, exc) from exc
    except ValueError as exc:
        raise UsageError(f"{str(path)!r} is no path; name a python file") from exc
    if len(source) > MOST_BYTES:
        raise SubmissionError(f"{path}: is larger than {MOST_BYTES // 1024} KiB; hand in your code alone, without data")
    return source


def _unreadable(path: Path, exc: OSError) -> Exception:
    if exc.errno == errno.ELOOP:
        return SubmissionError(f"{path}: is a symbolic link that leads back to itself; name the file itself")
    if isinstance(exc, (FileNotFoundError, NotADirectoryError)) or exc.errno == errno.ENAMETOOLONG:
        return UsageError(workspace.missing(path, Path.cwd()))
    if path.exists() and not path.is_file():  # a socket can't be opened at all, on Windows neither can a folder
        return _no_file(path, path.stat().st_mode)
    return SubmissionError(f"{path}: can't be read ({exc.strerror}); make it a file that you may read")


def _no_file(path: Path, mode: int) -> SubmissionError:
    kind = next((name for is_kind, name in _KINDS if is_kind(mode)), "a device")
    return SubmissionError(f"{path}: is {kind}; name a python file{' in it' if stat.S_ISDIR(mode) else ''}")


def _decode(path: Path, source: bytes, problem_id: str) -> str:
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SubmissionError(f"{path}: is encoded as utf-16; save it as utf-8")
    if b"\0" in source:
        raise SubmissionError(f"{path}: is no text, as byte {source.index(0) + 1} is 0; name a python file")
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = source.count(b"\n", 0, exc.start) + 1
        message = f"byte 0x{source[exc.start]:02x} is not utf-8; save the file as utf-8"
        raise SubmissionError(message, where=f"{path}: line {line}: ", line=line) from exc
    if not text.strip():
        raise SubmissionError(f"{path}: is empty; judge show {problem_id} says what to write")
    _refuse_other_coding(path, text)
    _refuse_piled_marks(path, text)
    return text


def _refuse_other_coding(path: Path, text: str) -> None:
    """Refuse a coding comment (PEP 263) that would make Python read other code than we do."""
    for number, line in enumerate(_lines(text)[:2], start=1):
        cookie = _COOKIE.match(line)
        if cookie and not _UTF_8.fullmatch(cookie[1].replace("_", "-")):
            raise _refusal(path, text, f"the coding {cookie[1]} is not utf-8; take the comment out", number, 1)
        if line.strip(" \t\f") and not line.lstrip(" \t\f").startswith("#"):
            return


def _refuse_piled_marks(path: Path, text: str) -> None:
    """Refuse more combining marks on a letter than any language has: Python would order them for minutes."""
    if text.isascii():
        return
    for number, line in enumerate(_lines(text), start=1):
        piled = 0
        for column, letter in enumerate(line, start=1):
            piled = piled + 1 if unicodedata.combining(unicodedata.normalize("NFKD", letter)[-1]) else 0
            if piled > _MOST_MARKS:
                message = f"one letter has more than {_MOST_MARKS} combining marks; take them away"
                raise _refusal(path, text, message, number, column)


def _parse(path: Path, text: str) -> ast.Module:
    try:
        tree = parse(text)
    except SyntaxError as exc:
        raise _refusal(path, text, _plainly(exc.msg), exc.lineno, exc.offset) from exc
    except (MemoryError, ValueError, OverflowError) as exc:
        raise _too_deep(path) from exc
    misplaced = find_misplaced(tree)
    if misplaced:
        message, line, column = misplaced
        before = _lines(text)[line - 1].encode()[: column - 1]  # trees count bytes, we count letters
        raise _refusal(path, text, message, line, len(before.decode()) + 1)
    return tree


def _too_deep(path: Path) -> SubmissionError:
    return SubmissionError(f"{path}: is nested too deeply to be read; split its longest expression into several")


def _refusal(path: Path, text: str, message: str, line: int | None, column: int | None) -> SubmissionError:
    lines = _lines(text)
    if not line or line > len(lines):
        return SubmissionError(f"{path}: {message}")
    where = f"{path}: line {line}: "
    return SubmissionError(message, where=where, line=line, column=column or None, text=lines[line - 1])


def _plainly(message: str) -> str:
    """Write Python's words on a syntax error as ours are: one sentence, lower case."""
    message = re.sub(r"\. ([A-Z])", lambda match: f"; {match[1].lower()}", message).rstrip(".")
    return message if message[:2].isupper() else message[:1].lower() + message[1:]


def _lines(text: str) -> list[str]:
    """Split where Python does, and nowhere else."""
    return re.split(r"\r\n|\r|\n", text)


def _remarks(unreached: Iterable[Use]) -> tuple[str, ...]:
    remarks = [
        f"line {use.line} names {use.name}, which is closed here, in code that is never reached" for use in unreached
    ]
    more = len(remarks) - MOST_REMARKS
    return (
        *remarks[:MOST_REMARKS],
        *([f"{counted(more, 'more line')} {'names' if more == 1 else 'name'} what is closed here"] if more > 0 else []),
    )
