"""What a file of tests is run on: correct implementations, each in a style of its own, and wrong ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from judge.errors import ProblemError
from judge.mutants import REFERENCE, Mutant, load_mutants
from judge.problem_files import read_text, shown

REWRITES = "hidden/rewrites"
_STYLE = re.compile(r"# style: (.*\S)")
_PLAIN = "computes what the statement says, step by step"


@dataclass(frozen=True, slots=True)
class Implementation:
    """One to run the tests on: ``style`` is how a correct one takes its liberty, ``mutant`` is set on a wrong one."""

    name: str
    source: str
    style: str = ""
    mutant: Mutant | None = None


def load_implementations(folder: Path) -> tuple[list[Implementation], list[Implementation]]:
    """The correct ones, the reference first, and the wrong ones. Raises ProblemError."""
    correct = [Implementation("reference", read_text(folder, REFERENCE), _PLAIN)]
    for path in sorted((folder / REWRITES).glob("*.py")):
        source = read_text(folder, f"{REWRITES}/{path.name}")
        correct.append(Implementation(path.stem, source, _style(source, shown(folder, f"{REWRITES}/{path.name}"))))
    mutants = load_mutants(folder, for_tests=True)
    return correct, [Implementation(mutant.name, mutant.source, mutant=mutant) for mutant in mutants]


def _style(source: str, where: str) -> str:
    for line in source.splitlines():
        found = _STYLE.fullmatch(line)
        if found:
            return found[1]
    raise ProblemError(f"{where}: says no style; write a line like '# style: gives results in transposed memory'")
