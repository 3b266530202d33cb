"""Notices that a file was saved, however an editor does it: written anew, renamed into place, deleted and made again.

What is watched is the folder that the file is in, or should be, not the file, which another one may replace; and the
folder that it really lies in, where it is a link. A look at the file's times every second finds what the system
does not report, as on network drives.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

_STEP = 5  # ms that a folder must be quiet before a save is noticed
_MOST_GROUPED = 200  # ms
_LOOK = 1000  # ms
_POLL_SECONDS = 0.3  # where nothing else works

Mark = tuple[int, ...] | None


class Saves:
    """Calls ``changed`` from a thread of its own after every change beside a file that ``find`` names."""

    def __init__(self, find: Callable[[], Path], changed: Callable[[], None]):
        self._find = find
        self._changed = changed
        self._stop = threading.Event()
        self._seen = _mark(find())
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.is_set():
            try:
                self._watch_folders(_folders(self._find()))
            except FileNotFoundError:  # the folder has just gone: there is one above it
                self._stop.wait(_POLL_SECONDS)
            except (OSError, RuntimeError, ImportError):  # watches are used up, or not to be had at all
                self._poll()

    def _watch_folders(self, folders: dict[Path, Mark]) -> None:
        """Watch until the folders are others."""
        import watchfiles

        for changes in watchfiles.watch(
            *folders,
            watch_filter=None,
            debounce=_MOST_GROUPED,
            step=_STEP,
            stop_event=self._stop,
            rust_timeout=_LOOK,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
        ):
            path = self._find()
            if changes or _mark(path) != self._seen:
                self._notice(path)
            if _folders(path) != folders:
                return

    def _poll(self) -> None:
        while not self._stop.wait(_POLL_SECONDS):
            path = self._find()
            if _mark(path) != self._seen:
                self._notice(path)

    def _notice(self, path: Path) -> None:
        self._seen = _mark(path)
        self._changed()


def _folders(path: Path) -> dict[Path, Mark]:
    """The folders to watch, each the nearest that is there, and which ones they are: a new one may have the name."""
    places = (Path(os.path.abspath(path)), Path(os.path.realpath(path)))
    near = (next(folder for folder in place.parents if folder.is_dir()) for place in places)
    return {folder: _mark(folder, contents=False) for folder in near}


def _mark(path: Path, *, contents: bool = True) -> Mark:
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # a name with a NUL byte is no path at all
        return None
    same = (status.st_dev, status.st_ino)
    return (*same, status.st_size, status.st_mtime_ns) if contents else same
