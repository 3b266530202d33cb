"""An exception of the submission as plain data: type, message, and the submission's own lines."""

from __future__ import annotations

import builtins
import linecache
import traceback
from typing import Any

SUBMISSION = "submission.py"
_MAX_MESSAGE = 2000
_ADVICE = " Hint: enable anomaly detection"  # PyTorch's own, long and of no use here
_MAX_FRAMES = 6


class StepError(Exception):
    """A step that the judge itself refused; ``kind`` says which facet it is about."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


def describe(exc: BaseException) -> dict[str, Any]:
    """Kind ("raised", "memory", "output" or a StepError's), type, built-in bases, message, line and traceback."""
    try:
        return _described(exc)
    except BaseException:  # the submission's own metaclass may raise anything when it is asked for a name
        unnamed = {"type": "an exception", "bases": [], "message": "(what it is can't be read)"}
        return {"kind": "raised", "line": None, "traceback": [], **unnamed}


def _described(exc: BaseException) -> dict[str, Any]:
    frames = [f for f in traceback.extract_tb(exc.__traceback__) if f.filename == SUBMISSION]
    message = _message(exc)
    return {
        "kind": _kind(exc, message),
        "type": str.__str__(type(exc).__name__)[:80],
        "bases": [base.__name__ for base in type(exc).__mro__ if base.__module__ == builtins.__name__],
        "message": message,
        "line": frames[-1].lineno if frames else _syntax_line(exc),
        "traceback": [
            f"line {f.lineno}, in {f.name}: {linecache.getline(SUBMISSION, f.lineno or 0).strip()[:120]}"
            for f in frames[-_MAX_FRAMES:]
        ],
    }


def _syntax_line(exc: BaseException) -> int | None:
    return exc.lineno if isinstance(exc, SyntaxError) and exc.filename == SUBMISSION else None


def _kind(exc: BaseException, message: str) -> str:
    if isinstance(exc, StepError):
        return exc.kind
    if type(exc).__name__ == "TooLargeError":
        return "output"
    out_of_memory = isinstance(exc, MemoryError) or "can't allocate memory" in message or "not enough memory" in message
    return "memory" if out_of_memory else "raised"


def _message(exc: BaseException) -> str:
    try:
        return str(exc).partition(_ADVICE)[0][:_MAX_MESSAGE]
    except BaseException as inner:  # the submission's own __str__ may raise anything
        return f"(its message can't be read: {type(inner).__name__})"
