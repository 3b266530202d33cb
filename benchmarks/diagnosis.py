"""What a diagnosis adds to a failing submission: seeded bugs of every problem, with and without it, in turn.

python benchmarks/diagnosis.py [BUGS-PER-PROBLEM] [ID...]
"""

from __future__ import annotations

import contextlib
import random
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judge.catalog import find_problem, problem_ids  # noqa: E402
from judge.models import Problem, Submission  # noqa: E402
from judge.mutants import load_mutants  # noqa: E402
from judge.pipeline import OpenProblem  # noqa: E402
from judge.processes.supervision import Engine  # noqa: E402

MEDIAN_LIMIT, LARGEST_LIMIT = 300, 800  # milliseconds


def main() -> None:
    arguments = sys.argv[1:]
    count = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else 5
    costs = {}
    with Engine() as engine:
        for name in arguments or problem_ids():
            problem = find_problem(name)
            if problem.kind == "code":
                costs[name] = cost(problem, engine, count)
                print(f"{name:30} {costs[name]:6.0f} ms more")
    median, largest = statistics.median(costs.values()), max(costs.values())
    for what, found, limit in (("median", median, MEDIAN_LIMIT), ("largest", largest, LARGEST_LIMIT)):
        print(f"{what:30} {found:6.0f} ms   limit {limit}: {'kept' if found <= limit else 'MISSED'}")


def cost(problem: Problem, engine: Engine, count: int) -> float:
    """The median of what a diagnosis takes, in milliseconds."""
    mutants = load_mutants(problem.folder)
    found = []
    with contextlib.closing(OpenProblem(problem, engine, seed=1)) as opened:
        for mutant in random.Random(problem.id).sample(mutants, min(count + 1, len(mutants))):
            submission = Submission(path=Path("mutant.py"), source=mutant.source.encode())
            seconds = []
            for diagnose in (False, True):
                started = time.perf_counter()
                opened.judge(submission, diagnose=diagnose, streams=False)
                seconds.append(time.perf_counter() - started)
            found.append(1000 * (seconds[1] - seconds[0]))
    return statistics.median(found[1:])  # the first one reads the mutants


if __name__ == "__main__":
    main()
