"""The early start of ``judge submit`` and ``judge watch``: torch begins to load before the command line is parsed.

    cli.py starts:         early(sys.argv)      the zygote starts if the arguments look like one of them
    typer, pydantic load   ...                  while torch loads in the zygote
    the command begins:    take(isolation)      the engine that has that zygote, or a new one
    the process ends:      close()              whatever is left, also after a usage error

Besides the standard library only what starts the zygote is imported before it, since everything else would delay it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge.processes.supervision import Engine

INTERRUPTED = 130  # the shells' exit code for Ctrl-C

_started: tuple[str, Engine] | None = None


def early(argv: Sequence[str]) -> Engine | None:
    """Start an engine if these are the arguments of a submit or a watch that can go well."""
    global _started
    isolation = _isolation(argv)
    if argv[1:2] not in (["submit"], ["watch"]) or len(argv) < 3 or "--help" in argv or isolation is None:
        return None
    import signal  # most commands have no use for it

    from judge.errors import Error
    from judge.processes import interpreter

    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, _leave)
    zygote = None
    with contextlib.suppress(Error, OSError):  # the command will meet it again and can say so
        if isolation == "auto" and sys.platform == "linux":
            zygote = interpreter.start_zygote()
    from judge.processes.supervision import Engine

    engine = Engine(isolation)
    _started = isolation, engine
    with contextlib.suppress(Error, OSError):
        engine.start(zygote)
    return engine


def take(isolation: str, required: str | None = None) -> Engine:
    """Give the engine that was started early, if it is of that isolation, or a new one.

    Ctrl-C is Python's again, and a closed terminal or a plain kill ends the command in the same way: tidily.
    ``required``: the engine refuses to judge below this level. Raises UsageError where it never could reach it.
    """
    import signal

    from judge.errors import UsageError
    from judge.processes.supervision import Engine

    if (isolation, required) == ("process", "kernel"):
        raise UsageError("--isolation process never reaches the level kernel that is required; leave one of them out")

    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, signal.default_int_handler)
    engine = _started[1] if _started is not None and _started[0] == isolation else Engine(isolation)
    engine.required = required
    return engine


def renew(isolation: str, required: str | None = None) -> Engine:
    """Give a new engine in the place of one that has ended."""
    close()
    return take(isolation, required)


def close() -> None:
    """End the engine that was started early; more than once does no harm."""
    global _started
    if _started is not None:
        _started[1].close()
        _started = None


def _isolation(argv: Sequence[str]) -> str | None:
    """Read the one option that the engine needs; None if its value is none of those that exist."""
    value = "auto"
    for position, argument in enumerate(argv):
        if argument == "--isolation":
            value = argv[position + 1] if position + 1 < len(argv) else ""
        elif argument.startswith("--isolation="):
            value = argument.partition("=")[2]
    return value if value in ("auto", "process") else None


def _leave(*_: object) -> None:
    """Ctrl-C while the imports run: there is nothing to tidy up but the engine."""
    close()
    os._exit(INTERRUPTED)
