"""The few calls of the C library that the lock makes, each raising OSError where it fails."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from typing import Any

_MACHINES = {"x86_64": 0, "aarch64": 1, "arm64": 1}
_LIBC: Any = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None

NO_NEW_PRIVS = 38
SET_PDEATHSIG = 1
SET_DUMPABLE = 4


def machine() -> int | None:
    """The column of this machine in the table of system calls; None where there is none."""
    return _MACHINES.get(platform.machine()) if sys.maxsize > 1 << 32 else None  # a 32-bit program makes other calls


def syscall(number: int, *arguments: Any) -> int:
    """A raw system call; ints are passed as longs."""
    _LIBC.syscall.restype = ctypes.c_long
    values = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_LIBC.syscall(ctypes.c_long(number), *values))


def prctl(option: int, *values: int) -> int:
    """prctl(2)."""
    padded = [*values, 0, 0, 0, 0][:4]
    return _checked(_LIBC.prctl(ctypes.c_int(option), *(ctypes.c_ulong(value) for value in padded)))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(result)
