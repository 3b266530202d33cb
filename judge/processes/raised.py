"""Exceptions that are raised on one side of a pipe and raised again on the other, with type and message."""

from __future__ import annotations

import builtins
import re
from functools import lru_cache
from typing import Any

_MOST = 2000
_PLAIN = (str, int, float, bool, type(None))
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")


def describe(exc: BaseException) -> dict[str, Any]:
    """Its type's name, the built-in exceptions that it is one of, the nearest first, and its arguments."""
    known = [base.__name__ for base in type(exc).__mro__ if _built_in(base.__name__) is base]
    args = list(exc.args) if all(type(one) in _PLAIN for one in exc.args) else [str(exc)]
    args = [one[:_MOST] if isinstance(one, str) else one for one in args[:10]]
    return {"type": type(exc).__name__, "bases": known, "args": args}


def rebuild(described: dict[str, Any]) -> Exception:
    """The exception again; a type of the implementation's own is made anew under its name."""
    name, bases, args = described["type"], described["bases"], described["args"]
    try:
        exc = _type(str(name), tuple(map(str, bases)))(*args)
    except TypeError:  # one of those that take more than a message
        return RuntimeError(f"{name}: {' '.join(map(str, args))}")
    return exc if isinstance(exc, Exception) else RuntimeError(f"{name}: {' '.join(map(str, args))}")


@lru_cache(maxsize=64)
def _type(name: str, bases: tuple[str, ...]) -> type[BaseException]:
    known = [found for base in bases if (found := _built_in(base))] or [Exception]
    if known[0].__name__ == name:
        return known[0]
    nearest = [one for one in known if not any(other is not one and issubclass(other, one) for other in known)]
    return type(name if _NAME.fullmatch(name) else "Error", tuple(nearest), {})


def _built_in(name: str) -> type[BaseException] | None:
    found = getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None
