"""What a locked worker may read: the interpreter's library, the packages, the system's libraries; nothing of ours.

Landlock can only allow, so a folder that holds something hidden is allowed child by child. Every path is resolved: a
rule on a link is a rule on its target (`lib64 -> lib` in a virtual environment, a package linked from a cache).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

OURS = ("judge", "reference", "problems", "cli.py", "submissions", "tests", "benchmarks", "docs", "tools", ".git")
_SYSTEM = (
    "/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64", "/usr/local/lib", "/opt/lib", "/usr/share/zoneinfo",
    "/usr/share/locale", "/etc/ld.so.cache", "/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd", "/dev/null",
    "/dev/urandom", "/dev/random", "/dev/zero", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm",
    "/sys/devices/system/cpu", "/sys/devices/system/node",
)  # fmt: skip


def readable(root: str, libraries: Iterable[str]) -> tuple[list[str], list[str]]:
    """The paths to allow, and those whose names may be listed.

    ``root`` is the folder that holds our packages, ``libraries`` the standard library's and the packages' folders.
    """
    sites = [os.path.realpath(path) for path in libraries]
    own = os.path.realpath(root)
    hidden = [os.path.realpath(os.path.join(own, name)) for name in OURS]
    if not any(own == site or own.startswith(site + os.sep) for site in sites):
        hidden.append(own)  # a checkout: all of it, also where it lies inside a folder that is allowed
    walk = _Walk(hidden)
    for path in sites:
        walk.add(path, asked_for=True)
    for path in _SYSTEM:
        walk.add(path)
    return sorted(walk.read), sorted(walk.names)


def canaries(root: str) -> list[str]:
    """Files that must not be readable: the first hidden one of each problem, and an oracle."""
    found = sorted(Path(root, "problems").glob("*/hidden/reference.py"))[:3]
    return [os.path.realpath(path) for path in (*found, *sorted(Path(root, "reference").glob("*.py"))[:1])]


class _Walk:
    """Collects allowed paths, going around what is hidden."""

    def __init__(self, hidden: Sequence[str]):
        self.read: set[str] = set()
        self.names: set[str] = set()
        self._hidden = hidden
        self._seen: set[str] = set()

    def add(self, path: str, *, asked_for: bool = False) -> None:
        real = os.path.realpath(path)
        if real in self._seen or not os.path.exists(real):
            return
        self._seen.add(real)
        inside = [hidden for hidden in self._hidden if hidden.startswith(real + os.sep) or hidden == real]
        if not asked_for and any(real == h or real.startswith(h + os.sep) for h in self._hidden):
            return
        if not inside:
            self.read.add(real)
            return
        self.names.add(real)
        with os.scandir(real) as entries:
            for entry in entries:
                self.add(entry.path)
