"""Judges every reference, and optionally every rewrite, at many fresh seeds: one refusal in fifty is a bug.

python benchmarks/seeds.py [--rewrites] [TIMES] [ID...]
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judge.catalog import find_problem, problem_ids  # noqa: E402
from judge.models import Problem  # noqa: E402
from judge.pipeline import OpenProblem  # noqa: E402
from judge.processes.supervision import Engine  # noqa: E402
from judge.submission import read_submission  # noqa: E402


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--rewrites"]
    times = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else 50
    refused = 0
    with Engine() as engine:
        for name in arguments or problem_ids():
            refused += judge_often(find_problem(name), engine, times, rewrites="--rewrites" in sys.argv)
    return 1 if refused else 0


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
