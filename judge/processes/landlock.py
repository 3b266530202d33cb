"""Landlock: from here on this process reads only what is on a list, and writes, connects and signals nowhere.

The kernel's interface has versions ("ABI"): 1 file system, 2 rename and link, 3 truncate, 4 TCP, 5 ioctl on devices,
6 abstract sockets and signals. Everything that the running kernel knows is restricted; what it doesn't know, seccomp
refuses. See https://docs.kernel.org/userspace-api/landlock.html.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections.abc import Iterable

from judge.processes import libc

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_FIRST_RIGHTS = (1 << 13) - 1
_LATER_RIGHTS = {2: 1 << 13, 3: 1 << 14, 5: 1 << 15}  # by the version that brought them
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14 | 1 << 15
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_REFER, _TRUNCATE = 1 << 13, 1 << 14  # REFER: from one folder below to another, nowhere else
_WRITING = (
    _READ_FILE | _READ_DIR | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _REFER | _TRUNCATE
)
_TCP = 3  # bind, connect
_SCOPES = 3  # abstract sockets, signals


def version() -> int:
    """The kernel's version of Landlock, 0 if it has none."""
    try:
        return libc.syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    except OSError:
        return 0


def restrict(read: Iterable[str], names: Iterable[str], *, write: str | None = None, known: int | None = None) -> int:
    """Allow reading below ``read``, listing ``names``, writing /dev/null and below ``write``; nothing else, for good.

    ``known`` limits the version (for tests). Gives the version in force; raises OSError if there is none.
    """
    abi = min(version(), known or version())
    if abi < 1:
        raise OSError("this kernel has no Landlock")
    rights = _FIRST_RIGHTS | sum(bit for since, bit in _LATER_RIGHTS.items() if abi >= since)
    fields = [rights, *([_TCP] if abi >= 4 else []), *([_SCOPES] if abi >= 6 else [])]
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.c_char_p(attributes), len(attributes), 0)
    try:
        for path in read:
            _allow(ruleset, path, _READ_FILE | _READ_DIR)
        for path in names:
            _allow(ruleset, path, _READ_DIR)
        _allow(ruleset, os.devnull, _READ_FILE | _WRITE_FILE)
        if write:
            _allow(ruleset, write, _WRITING & rights)
        libc.prctl(libc.NO_NEW_PRIVS, 1)
        libc.syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return abi


def _allow(ruleset: int, path: str, rights: int) -> None:
    with contextlib.suppress(FileNotFoundError, PermissionError):  # what isn't there, or isn't ours, needs no rule
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            allowed = rights if os.path.isdir(path) else rights & _OF_FILES
            rule = struct.pack("=Qi", allowed, descriptor)
            libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.c_char_p(rule), 0)
        finally:
            os.close(descriptor)
