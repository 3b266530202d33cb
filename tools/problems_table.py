"""Writes docs/problems.md, what `judge verify` finds about each problem: `python tools/problems_table.py` (minutes)."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judge.catalog import load_problems  # noqa: E402
from judge.processes.supervision import Engine  # noqa: E402
from judge.verify import Proof, verify  # noqa: E402

SEED = 1
HEAD = """\
# The problems in numbers

Written by `python tools/problems_table.py`, from the proofs of one run. Worst rewrite: the largest relative error of a
right answer (limit 1e-8). Mildest mutant: the least of what a seeded bug shows on its clearest case (limit 1e-3).
Judging: the reference's calls with processes at hand, on the machine that wrote this. Where the answer is a file of
tests, the cases are exemplars of such files, good and bad ones, and judging is that of a good one.

| problem | cases | of these relations | mutants | rewrites | junk | worst rewrite | mildest mutant | judging |
|---|---|---|---|---|---|---|---|---|
"""


def main() -> int:
    problems = load_problems()
    with Engine() as engine:
        ready = {proof.problem: proof for proof in verify(problems, engine, seed=SEED)}
    proofs = [ready[problem.id] for problem in problems]
    for proof in proofs:
        for complaint in proof.complaints:
            print(f"{proof.problem}: {complaint}")
    if not all(proof.ok for proof in proofs):
        return 1
    total = f"\n{len(proofs)} problems, {sum(len(proof.kills) for proof in proofs)} mutants.\n"
    (ROOT / "docs" / "problems.md").write_text(HEAD + "".join(map(row, proofs)) + total, encoding="utf-8")
    return 0


def row(proof: Proof) -> str:
    mildest = f"{proof.mildest_mutant:.1e}" if proof.mildest_name else "exact"
    cells = (
        proof.problem, len(proof.cases), proof.relations, len(proof.kills), proof.rewrites, proof.junk,
        f"{proof.worst_rewrite:.1e}", mildest, f"{1000 * proof.judging_seconds:.0f} ms",
    )  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |\n"


if __name__ == "__main__":
    sys.exit(main())
