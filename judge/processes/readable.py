"""What a locked worker may read: the interpreter's library, the packages, the system's libraries; nothing of ours.

Landlock can only allow, so a folder that holds something hidden is allowed child by child. Every path is resolved: a
rule on a link is a rule on its target. Three kinds of links matter: `lib64 -> lib` in a virtual environment, packages
that are links, and packages whose every file is a link into a cache (uv's symlink mode, conda across file systems).
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

OURS = ("judge", "reference", "problems", "cli.py", "submissions", "tests", "benchmarks", "docs", "tools", ".git")
_INSTALLED = ("judge", "reference", "problems", "cli.py")
_SYSTEM = (
    "/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64", "/usr/local/lib", "/opt/lib", "/usr/share/zoneinfo",
    "/usr/share/locale", "/etc/ld.so.cache", "/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd", "/dev/null",
    "/dev/urandom", "/dev/random", "/dev/zero", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm",
    "/sys/devices/system/cpu", "/sys/devices/system/node",
)  # fmt: skip
_BESIDE_LIBRARY = os.path.dirname(os.path.dirname(os.__file__))  # its shared libraries, which late imports load


def readable(root: str, libraries: Iterable[str]) -> tuple[list[str], list[str]]:
    """The paths to allow, and those whose names may be listed.

    ``root`` is the folder that holds our packages, ``libraries`` the standard library's and the packages' folders.
    """
    sites = [os.path.realpath(path) for path in libraries]
    system = [os.path.realpath(path) for path in (_BESIDE_LIBRARY, *_SYSTEM)]
    own = os.path.realpath(root)
    hidden = [os.path.realpath(os.path.join(own, name)) for name in OURS]
    if own not in sites:
        hidden.append(own)  # a checkout: all of it, also where it lies inside a folder that is allowed
    hidden += _copies([*sites, *system])
    walk = _Walk(hidden)
    for path in sites:
        walk.add(path, asked_for=True)
        for target in _linked(path):
            walk.add(target, linked=True)
    for path in system:
        walk.add(path)
    return sorted(walk.read), sorted(walk.names)


def canaries(root: str) -> list[str]:
    """Files that must not be readable: the first hidden one of each problem, and an oracle."""
    found = sorted(Path(root, "problems").glob("*/hidden/reference.py"))[:3]
    return [os.path.realpath(path) for path in (*found, *sorted(Path(root, "reference").glob("*.py"))[:1])]


def _copies(folders: Iterable[str]) -> Iterator[str]:
    """Every installation of ours that these folders hold: a second one has the answers too."""
    for folder in dict.fromkeys(folders):
        within = glob.escape(folder)
        for site in (folder, *glob.glob(f"{within}/*-packages"), *glob.glob(f"{within}/python3*/*-packages")):
            if os.path.isdir(os.path.join(site, "judge", "processes")):
                yield from (os.path.realpath(os.path.join(site, name)) for name in _INSTALLED)


def _linked(site: str) -> Iterator[str]:
    """Where packages lie that are only links in their folder: each link's target, or the cache that holds the files."""
    with contextlib.suppress(OSError), os.scandir(site) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield entry.path
            elif entry.name.endswith(".dist-info"):
                within = os.path.join(entry.name, "METADATA")
                target = os.path.realpath(os.path.join(site, within))
                if not _lies_in(target, site) and target.endswith(os.sep + within):
                    yield target[: -len(os.sep + within)]


def _lies_in(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it; the root folder ends in a separator, others don't."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


class _Walk:
    """Collects allowed paths, going around what is hidden."""

    def __init__(self, hidden: Sequence[str]):
        self.read: set[str] = set()
        self.names: set[str] = set()
        self._hidden = hidden
        self._seen: set[str] = set()

    def add(self, path: str, *, asked_for: bool = False, linked: bool = False) -> None:
        """Allow a path. ``asked_for``: although it lies in what is hidden. ``linked``: only if it holds nothing hidden,
        since what a link leads to by accident (`here -> /`) is not worth a walk."""
        real = os.path.realpath(path)
        if real in self._seen or not os.path.exists(real):
            return
        inside = any(_lies_in(hidden, real) for hidden in self._hidden)
        if linked and inside:
            return
        self._seen.add(real)
        if not asked_for and any(_lies_in(real, hidden) for hidden in self._hidden):
            return
        if not inside:
            self.read.add(real)
            return
        self.names.add(real)
        with os.scandir(real) as entries:
            for entry in entries:
                self.add(entry.path, linked=entry.is_symlink())
