"""Gives up every capability, for good. The user id stays: the interpreter may live where only this user can read."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from pathlib import Path

from judge.processes import libc

_CAPBSET_DROP = 24
_SET_SECUREBITS = 28
_CAP_AMBIENT, _CLEAR_ALL = 47, 4
_NOROOT_AND_LOCKED = 0x2F  # root is no longer special, set-user-ID changes nothing, and all of that is locked
_CAPSET = (126, 91)
_VERSION_3 = 0x20080522


def drop() -> None:
    """Empty the bounding, ambient, inheritable, permitted and effective sets. Raises OSError if any is left."""
    if os.geteuid() == 0:
        last = int(Path("/proc/sys/kernel/cap_last_cap").read_bytes())
        for number in range(last + 1):
            with contextlib.suppress(OSError):  # not ours to drop: then it is not ours to use either
                libc.prctl(_CAPBSET_DROP, number)
        with contextlib.suppress(OSError):
            libc.prctl(_SET_SECUREBITS, _NOROOT_AND_LOCKED)
    with contextlib.suppress(OSError):
        libc.prctl(_CAP_AMBIENT, _CLEAR_ALL)
    column = libc.machine()
    if column is not None:
        header = ctypes.c_char_p(struct.pack("=Ii", _VERSION_3, 0))
        libc.syscall(_CAPSET[column], header, ctypes.c_char_p(bytes(24)))
