"""seccomp: an allow-list of system calls, checked by the kernel at each one.

A numerical program reads, maps memory, waits and starts threads. It does not fork, execute, open sockets (but a stream
pair), signal others or change files, not even their metadata, which Landlock doesn't cover. A refused call gives an
error; a call that only an attack makes ends the process; a number newer than the table "does not exist".
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Iterable

from judge.processes import libc
from judge.processes.syscalls import ALLOWED, CHANGING, FATAL, NUMBERS

_AUDIT = (0xC000003E, 0xC00000B7)
_SECCOMP = (317, 277)
_SET_MODE_FILTER, _ALL_THREADS = 1, 1
_GET_ACTION_AVAIL = 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_X32 = 0x40000000
_NEWEST = 450
_THREAD = 0x10000
_FOR_WRITING = 0o1 | 0o2 | 0o100 | 0o1000  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC
_STREAM_PAIRS = [1 | cloexec | nonblock for cloexec in (0, 0x80000) for nonblock in (0, 0x800)]
_PRCTL = [3, 15, 16, 23, 27, 0x53564D41]  # get dumpable, names, read the bounding set and securebits, name memory
_IOCTL = [0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451]  # is it a terminal, its size, bytes waiting, flags
_FCNTL = [0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032]  # no owner, signal or lease


def available() -> bool:
    """Whether this machine has a table of system calls, and its kernel takes filters that end a process."""
    column = libc.machine()
    if column is None:
        return False
    try:
        return libc.syscall(_SECCOMP[column], _GET_ACTION_AVAIL, 0, ctypes.c_char_p(struct.pack("=I", _KILL))) == 0
    except OSError:
        return False


def restrict(pid: int, *, read_only: bool, writable: bool = False) -> None:
    """Install the filter for good.

    ``read_only``: also refuse to open for writing (where Landlock is missing). ``writable``: leave it to Landlock where
    files may be changed (where there is a scratch folder).
    """
    column = libc.machine()
    if column is None:
        raise OSError("there is no table of system calls for this machine")
    code = program(column, pid, read_only=read_only, writable=writable)
    memory = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(memory))
    libc.prctl(libc.NO_NEW_PRIVS, 1)
    if libc.syscall(_SECCOMP[column], _SET_MODE_FILTER, _ALL_THREADS, ctypes.c_char_p(header)):
        raise OSError("a thread could not be restricted")


def program(column: int, pid: int, *, read_only: bool, writable: bool = False) -> bytes:
    """The filter as BPF instructions: code u16, jump if true u8, jump if false u8, operand u32."""
    filter_ = _Filter(column)
    filter_.start()
    if read_only:
        filter_.refuse_flags("open", 1, _FOR_WRITING)
        filter_.refuse_flags("openat", 2, _FOR_WRITING)
    for name in CHANGING:
        filter_.answer(name, _ALLOW if writable else _error(errno.EROFS))
    for name in ALLOWED:
        filter_.answer(name, _ALLOW)
    for name in FATAL:
        filter_.answer(name, _KILL)
    filter_.answer("clone3", _error(errno.ENOSYS))  # its flags lie behind a pointer; libraries fall back to clone
    filter_.require_flag("clone", 0, _THREAD)
    filter_.allow_values("socketpair", 1, _STREAM_PAIRS)  # a datagram pair could send to any socket's path
    filter_.allow_values("kill", 0, [pid])
    filter_.allow_values("tgkill", 0, [pid])
    filter_.allow_values("prlimit64", 0, [0, pid])
    filter_.allow_values("sched_setaffinity", 0, [0])
    filter_.allow_values("prctl", 0, _PRCTL)
    filter_.allow_values("ioctl", 1, _IOCTL)
    filter_.allow_values("fcntl", 1, _FCNTL)
    filter_.end()
    return filter_.code


class _Filter:
    """Assembles the filter; each rule leaves the call's number loaded for the next, or returns."""

    def __init__(self, column: int):
        self.column = column
        self.code = b""

    def start(self) -> None:
        self._add(_LOAD, _ARCHITECTURE)
        self._add(_EQUAL, _AUDIT[self.column], if_true=1)
        self._add(_RETURN, _KILL)
        self._add(_LOAD, _NUMBER)
        if self.column == 0:  # the x32 numbers reach the same calls by another table
            self._add(_AT_LEAST, _X32, if_false=1)
            self._add(_RETURN, _KILL)

    def end(self) -> None:
        self._add(_AT_LEAST, _NEWEST, if_false=1)
        self._add(_RETURN, _error(errno.ENOSYS))
        self._add(_RETURN, _error(errno.EPERM))

    def answer(self, name: str, action: int) -> None:
        if self._is(name, skip=1):
            self._add(_RETURN, action)

    def allow_values(self, name: str, argument: int, values: Iterable[int]) -> None:
        """Allow the call where the low word of the argument is one of these."""
        allowed = sorted(set(values))
        if self._is(name, skip=2 * len(allowed) + 2):
            self._add(_LOAD, _FIRST_ARGUMENT + 8 * argument)
            for value in allowed:
                self._add(_EQUAL, value, if_false=1)
                self._add(_RETURN, _ALLOW)
            self._add(_RETURN, _error(errno.EPERM))

    def require_flag(self, name: str, argument: int, flag: int) -> None:
        if self._is(name, skip=4):
            self._add(_LOAD, _FIRST_ARGUMENT + 8 * argument)
            self._add(_ANY_BIT, flag, if_false=1)
            self._add(_RETURN, _ALLOW)
            self._add(_RETURN, _error(errno.EPERM))

    def refuse_flags(self, name: str, argument: int, flags: int) -> None:
        if self._is(name, skip=4):
            self._add(_LOAD, _FIRST_ARGUMENT + 8 * argument)
            self._add(_ANY_BIT, flags, if_false=1)
            self._add(_RETURN, _error(errno.EROFS))
            self._add(_RETURN, _ALLOW)

    def _is(self, name: str, skip: int) -> bool:
        """Compare with the call's number and jump over ``skip`` instructions if it is another; False if unknown."""
        number = NUMBERS[name][self.column]
        if number is None:
            return False
        self._add(_EQUAL, number, if_false=skip)
        return True

    def _add(self, code: int, operand: int, *, if_true: int = 0, if_false: int = 0) -> None:
        self.code += struct.pack("HBBI", code, if_true, if_false, operand & 0xFFFFFFFF)


def _error(number: int) -> int:
    return 0x00050000 | number
