"""Judges references, rewrites or mutants at many fresh seeds: one wrong verdict in fifty is a bug.

python benchmarks/seeds.py [--times 50] [--rewrites | --mutants | --proofs [--quick]] [ID...]

The reference alone; rewrites, too; nothing but the mutants, on the cases that they name; whole proofs, or quick ones.
Two at a time.
"""

from __future__ import annotations

import argparse
import functools
import secrets
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judge.catalog import find_problem, problem_ids  # noqa: E402
from judge.counted import counted  # noqa: E402
from judge.models import Problem  # noqa: E402
from judge.mutants import load_mutants  # noqa: E402
from judge.pipeline import OpenProblem  # noqa: E402
from judge.processes.supervision import Engine  # noqa: E402
from judge.submission import read_submission  # noqa: E402
from judge.verify import How, Prover, verify  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--rewrites", action="store_true")
    parser.add_argument("--mutants", action="store_true")
    parser.add_argument("--proofs", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick and not options.proofs:
        parser.error("--quick is a way to prove; give --proofs, too")
    problems = [find_problem(name) for name in options.ids or problem_ids()]
    if not options.proofs:
        problems = [problem for problem in problems if problem.kind != "tests"]  # of these nothing is drawn
    with Engine() as engine:
        if options.mutants:
            return 1 if refuse_often(problems, engine, options.times) else 0
        if options.proofs:
            return 1 if prove_often(problems, engine, options.times, quick=options.quick) else 0
        often = functools.partial(judge_often, engine=engine, times=options.times, rewrites=options.rewrites)
        with ThreadPoolExecutor(max_workers=2) as pool:
            refused = sum(pool.map(often, problems))
    return 1 if refused else 0


def prove_often(problems: list[Problem], engine: Engine, times: int, *, quick: bool) -> int:
    """Print and count the complaints."""
    found, proven = 0, 0
    for number in range(1, times + 1):
        seed, mutants = secrets.randbits(32), 0
        for proof in verify(problems, engine, seed=seed, quick=quick):
            mutants += len(proof.kills)
            found += len(proof.complaints)
            proven += proof.ok
            for complaint in proof.complaints:
                print(f"  {proof.problem} at seed {seed}: {complaint}", flush=True)
        print(f"round {number} at seed {seed}: {counted(mutants, 'mutant')}", flush=True)
    total = counted(times * len(problems), "proof")
    print(f"{proven} of {total} succeeded at {counted(times, 'fresh seed')}, {counted(found, 'complaint')}", flush=True)
    return found


class OnlyMutants(Prover):
    """What of a proof is about mutants."""

    def _all(self) -> None:
        self._refused(load_mutants(self.problem.folder))


def refuse_often(problems: list[Problem], engine: Engine, times: int) -> int:
    """Print and count the complaints about mutants."""
    found = 0
    for number in range(1, times + 1):
        seed = secrets.randbits(32)
        how = How(seed, production=False, quick=True, at_once=1)
        provers = [OnlyMutants(problem, engine, lambda step: None, how) for problem in problems]
        with ThreadPoolExecutor(max_workers=2) as pool:
            proofs = list(pool.map(OnlyMutants.prove, provers))
        for proof in proofs:
            found += len(proof.complaints)
            for complaint in proof.complaints:
                print(f"  {proof.problem} at seed {seed}: {complaint}", flush=True)
        mutants = sum(len(proof.kills) for proof in proofs)
        print(f"round {number} at seed {seed}: {counted(mutants, 'mutant')}", flush=True)
    print(f"{counted(found, 'complaint')} at {counted(times, 'fresh seed')}", flush=True)
    return found


def judge_often(problem: Problem, engine: Engine, times: int, *, rewrites: bool) -> int:
    """Print and count the refusals."""
    hidden = problem.folder / "hidden"
    files: list[Path] = [hidden / "reference.py", *(sorted((hidden / "rewrites").glob("*.py")) if rewrites else [])]
    refused, worst = 0, 0.0
    for _ in range(times):
        seed = secrets.randbits(32)
        opened = OpenProblem(problem, engine, seed=seed)
        for path in files:
            report = opened.judge(read_submission(path, problem), diagnose=False)
            worst = max(worst, *(case.error or 0.0 for case in report.cases))
            if report.verdict != "accepted":
                refused += 1
                said = [f"{case.name}: {case.findings[0].subject} {case.findings[0].message}" for case in report.failed]
                print(f"  {path.name} at seed {seed}: {report.verdict} {report.message or ''} {said[:2]}", flush=True)
        opened.close()
    total = times * len(files)
    print(f"{problem.id}: {total - refused} of {total} accepted, largest error {worst:.1e}", flush=True)
    return refused


if __name__ == "__main__":
    sys.exit(main())
