"""The scratch folder: where a problem about files lets a run write, each run in a folder of its own."""

from __future__ import annotations

import tempfile
import weakref
from pathlib import Path
from typing import Any

import torch

_ROOT: list[Path] = []
_FOLDERS: weakref.WeakKeyDictionary[Any, Path] = weakref.WeakKeyDictionary()


def use(root: str | None) -> None:
    """Let runs make their folders here; None: this problem writes nothing."""
    _ROOT[:] = [Path(root)] if root else []


def folder_of(run: Any) -> Path:
    """The run's own folder, made when it is first asked for."""
    if run not in _FOLDERS:
        if not _ROOT:
            raise RuntimeError("this problem has no scratch folder; set scratch_mib under [limits] in problem.toml")
        _FOLDERS[run] = Path(tempfile.mkdtemp(dir=_ROOT[0]))
    return _FOLDERS[run]


def write(path: Any, content: torch.Tensor) -> None:
    """Write bytes, given as a uint8 tensor."""
    Path(path).write_bytes(bytes(content.tolist()))


def listing(run: Any) -> list[str]:
    """The sorted names in the run's folder."""
    return sorted(entry.name for entry in folder_of(run).iterdir())


def readable(path: Any) -> bool:
    """Whether the file is one that anybody can read without running anything from it."""
    trusted = torch.serialization.get_safe_globals()  # by this submission, and by nobody else
    torch.serialization.clear_safe_globals()
    try:
        torch.load(path, weights_only=True)
        return True
    except Exception:  # not torch's format; safetensors may read it
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(str(path), framework="pt"):
                return True
        except (SafetensorError, OSError):
            return False
    finally:
        torch.serialization.add_safe_globals(trusted)
