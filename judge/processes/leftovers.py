"""Removes a scratch folder, whatever a submission has left there: folders nested by thousands, or closed to us.

What lies deeper is moved up and removed there, so that no path grows long and nothing recurses. A link is removed and
never followed.
"""

from __future__ import annotations

import contextlib
import os


def remove(folder: str) -> None:
    """Remove the folder with everything in it; what can't be removed is left without a word."""
    with contextlib.suppress(OSError):
        while inner := _emptied(folder):
            for path in inner:
                for deeper in _emptied(path):
                    os.rename(deeper, os.path.join(folder, os.urandom(16).hex()))
                os.rmdir(path)
        os.rmdir(folder)


def _emptied(folder: str) -> list[str]:
    """The folders in a folder, opened for us, after everything else in it is removed."""
    folders = []
    with os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                if entry.stat(follow_symlinks=False).st_mode & 0o700 != 0o700:
                    os.chmod(entry.path, 0o700)
                folders.append(entry.path)
            else:
                os.unlink(entry.path)
    return folders
