"""hidden/kills.json: which cases each mutant fails, kept from the problem's last whole proof.

    {"made_from": "<hash of cases.py, hidden/reference.py, hidden/mutants.toml>", "kills": {"mean": ["plain"], ...}}

The diagnosis begins with the mutants that fail what a submission fails. Where the file is missing, or was made from
other sources, it goes through all of them, which only takes longer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from judge.problem_files import read_text

KILLS = "hidden/kills.json"
_MADE_FROM = ("cases.py", "hidden/reference.py", "hidden/mutants.toml")


def load(folder: Path) -> dict[str, frozenset[str]]:
    """Mutant -> the cases it fails; empty where nothing is known of the sources as they stand."""
    try:
        kept = json.loads((folder / KILLS).read_text(encoding="utf-8"))
        known = {name: frozenset(cases) for name, cases in kept["kills"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # none yet, cut short, or of another form
        return {}
    return known if kept.get("made_from") == _hash(folder) else {}


def keep(folder: Path, kills: Mapping[str, Sequence[str]], *, anew: bool = False) -> bool:
    """Write what a whole proof found, if the sources have changed since, or ``anew``; whether it did. Raises OSError.

    Rows differ a little from proof to proof: some bugs are seen by some inputs only.
    """
    if load(folder) and not anew:
        return False
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(cases)}" for name, cases in kills.items())
    text = f'{{"made_from": "{_hash(folder)}",\n "kills": {{\n{rows}\n}}}}\n'
    (folder / KILLS).write_text(text, encoding="utf-8", newline="\n")
    return True


def _hash(folder: Path) -> str:
    texts = (read_text(folder, name) for name in _MADE_FROM)  # as text: line ends differ between systems
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
