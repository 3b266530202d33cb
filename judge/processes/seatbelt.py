"""Seatbelt, the sandbox of macOS: no network, no other processes, no writing, no reading of the user's own files.

It is put on after the imports by `sandbox_init`, which Apple has deprecated and keeps (browsers use it). Nothing
here has ever run on a Mac: the profile follows published ones, the tests replace the system's call by a fake. So it
promises nothing; it is named in a report only where the trial after it shows that it holds, and the level stays
"process".
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from typing import Any

COVERED = ("create a file", "change a file's mode", "fork")  # what the trial must find refused, beside the canaries

_DENIED = ("network*", "process-fork", "process-exec*", "ipc-posix*", "ipc-sysv*", "signal", "file-write*")


def restrict(hidden: Iterable[str], read: Iterable[str], write: str | None = None) -> bool:
    """Put the sandbox on for good; whether the system took it.

    Below ``hidden`` and the user's home only what lies below ``read`` can be read, and only ``write`` be written to.
    """
    error = ctypes.c_char_p()
    init = _system().sandbox_init
    init.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_char_p)]
    text = profile([*hidden, _home()], read, write)
    return bool(init(text.encode(), 0, ctypes.byref(error)) == 0)


def profile(hidden: Iterable[str], read: Iterable[str], write: str | None = None) -> str:
    """The rules in the sandbox's own language; of those that match, the last one counts."""
    written = [write] if write else []
    lines = ["(version 1)", "(allow default)", *(f"(deny {operation})" for operation in _DENIED)]
    lines += ["(allow signal (target self))", '(allow file-write-data (literal "/dev/null"))']
    lines += [f"(deny file-read-data (subpath {_quoted(path)}))" for path in hidden]
    lines += [f"(allow file-read-data (subpath {_quoted(path)}))" for path in (*read, *written)]
    lines += [f"(allow file-write* (subpath {_quoted(path)}))" for path in written]
    return "\n".join(lines)


def _quoted(path: str) -> str:
    real = os.path.realpath(path)  # /tmp is a link to /private/tmp, and rules are about what links lead to
    return '"' + real.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _home() -> str:
    import pwd  # not on Windows; and the environment of a worker knows no home

    return pwd.getpwuid(os.getuid()).pw_dir


def _system() -> Any:
    return ctypes.CDLL(None)
