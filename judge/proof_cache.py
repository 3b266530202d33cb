"""Proofs that hold still: kept by what they were made from, so that only what changed is proven again.

A proof's key is a hash of all that it depends on: the problem's folder (without what a proof itself keeps there), the
judge's own code, the oracles in reference/, the versions of Python and torch, the system and its processor. Only proofs
without a complaint are kept.
They are in the user's cache folder ($XDG_CACHE_HOME/judge, or ~/.cache/judge); what can't be read there is proven.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import platform
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import judge
from judge.kill_matrix import KILLS
from judge.models import Problem
from judge.verify import Proof

_ROOT = Path(judge.__file__).resolve().parent.parent


def folder() -> Path:
    """Where proofs are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "judge" / "proofs"


def key(problem: Problem) -> str:
    """The hash of all that a problem's proof depends on."""
    folders = [problem.folder, *([problem.folder.parent / problem.contract] if problem.contract else [])]
    own = "\0".join(map(_contents, folders))
    return hashlib.sha256(f"{problem.id}\0{own}\0{_surroundings()}".encode()).hexdigest()


def recall(problem: Problem) -> Proof | None:
    """The proof of the problem as it stands, if there is one."""
    try:
        kept = json.loads((folder() / f"{key(problem)}.json").read_text(encoding="utf-8"))
        return Proof(**kept, remembered=True)
    except (OSError, ValueError, TypeError):  # none yet, cut short, or of another form
        return None


def keep(problem: Problem, proof: Proof) -> None:
    """Keep a proof without complaints, in one step. Raises OSError where the folder can't be written."""
    if not proof.ok:
        return
    facts = {name: value for name, value in dataclasses.asdict(proof).items() if name != "remembered"}
    folder().mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=folder(), suffix=".new", delete=False, encoding="utf-8") as written:
        json.dump(facts, written)
    os.replace(written.name, folder() / f"{key(problem)}.json")


@functools.cache
def _surroundings() -> str:
    versions = (sys.version, metadata.version("torch"), platform.platform(), platform.processor())
    return "\0".join((*versions, _contents(_ROOT / "judge"), _contents(_ROOT / "reference")))


def _contents(root: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.name != Path(KILLS).name:
            digest.update(f"{path.relative_to(root)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
