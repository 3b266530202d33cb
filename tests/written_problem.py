"""A problem written into a temporary folder, and drawn as the oracle worker draws it."""

from __future__ import annotations

import textwrap
from pathlib import Path

from judge.drawn import DrawnProblem

HEAD = "import torch\nfrom judge.authoring import Call, call, case, module_call, relation, same, stream\n\n"


def write(root: Path, cases: str, reference: str, mutants: str = "") -> Path:
    """The folder of a problem; cases.py gets its imports."""
    folder = root / "problems" / "written"
    (folder / "hidden").mkdir(parents=True, exist_ok=True)
    texts = {
        "cases.py": HEAD + textwrap.dedent(cases),
        "hidden/reference.py": "import torch\n\n" + textwrap.dedent(reference),
        "hidden/mutants.toml": textwrap.dedent(mutants),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def drawn(folder: Path, *, seed: int = 1, only: tuple[str, ...] = (), run: bool = True) -> DrawnProblem:
    problem = DrawnProblem(folder, "written", seed, {"f": {"": "(x, y=None)"}}, only)
    if run:
        problem.run_reference()
    return problem
