"""How often two seeded bugs at once are both named: `python benchmarks/pairs.py [--count 50] [--seed 1]`; limit 70 %.

Pairs are drawn at random among those whose edits go together and of which each is known for a case that the other is
not known for: otherwise one of them hides the other, and naming one is right.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judge.catalog import load_problems  # noqa: E402
from judge.models import Submission  # noqa: E402
from judge.mutants import REFERENCE, compose, load_mutants  # noqa: E402
from judge.pipeline import OpenProblem  # noqa: E402
from judge.processes.supervision import Engine  # noqa: E402

LEAST = 0.7


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    problems = [problem for problem in load_problems() if problem.kind == "code"]
    drawn = right = 0
    with Engine() as engine:
        while drawn < options.count:
            problem = draw.choice(problems)
            one, other = draw.sample(load_mutants(problem.folder), 2)
            both = compose((problem.folder / REFERENCE).read_text(encoding="utf-8"), one, other)
            if both is None or set(one.kills) <= set(other.kills) or set(other.kills) <= set(one.kills):
                continue
            drawn += 1
            opened = OpenProblem(problem, engine, seed=draw.randrange(1 << 32))
            report = opened.judge(Submission(path=Path("pair.py"), source=both.encode()), streams=False)
            opened.close()
            found = report.diagnosis
            names = {like.mutant for like in found.mutants} if found else set()
            right += names == {one.name, other.name}
            if names != {one.name, other.name}:
                said = f"{found.strength} {', '.join(sorted(names))}" if found else "nothing"
                print(f"  {problem.id}: {one.name} and {other.name}: {said}", flush=True)
    print(f"{right} of {drawn} pairs named, limit {LEAST:.0%}")
    return 0 if right >= LEAST * drawn else 1


if __name__ == "__main__":
    sys.exit(main())
