"""Draws seeded bugs at random, to be written as submissions by someone who sees nothing but what each bug does.

    python tools/draw_mutants.py FOLDER [--count 100] [--seed 1]

FOLDER gets one folder for each problem that was drawn, with its statement and its stub, and ``drawn.toml``: for each
submission that is to be written (its name is the table's) the problem, what the bug does, and a style to write it in.
``answers.toml``, which is not for the writer, says which mutant each is.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judge.catalog import load_problems  # noqa: E402
from judge.mutants import load_mutants  # noqa: E402

LEAST_PROBLEMS = 20
STYLES = (
    "einsum and named axes",
    "functional: small helpers, torch.nn.functional where it is open",
    "explicit loops over heads, layers or positions",
    "explicit matrix products and reshapes, everything written out",
    "terse, in as few lines as is readable",
    "a beginner's: many intermediate variables, step by step",
    "like a well-known library's: private methods, early returns, keyword arguments",
)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    problems = {problem.id: problem for problem in load_problems() if problem.kind == "code"}
    mutants = [(problem, mutant) for problem in problems.values() for mutant in load_mutants(problem.folder)]
    drawn = draw.sample(mutants, options.count)
    while len({problem.id for problem, _ in drawn}) < min(LEAST_PROBLEMS, options.count):
        drawn = draw.sample(mutants, options.count)
    options.folder.mkdir(parents=True)
    questions, answers = "", ""
    for number, (problem, mutant) in enumerate(sorted(drawn, key=lambda one: one[0].id), start=1):
        name = f"{problem.id.replace('-', '_')}_{number:03}"
        style = draw.choice(STYLES)
        questions += f'[{name}]\nproblem = "{problem.id}"\nwhat = """{mutant.what}"""\nstyle = "{style}"\n\n'
        answers += f'{name} = ["{problem.id}", "{mutant.name}"]\n'
        folder = options.folder / problem.id
        folder.mkdir(exist_ok=True)
        (folder / "statement.md").write_text(problem.statement, encoding="utf-8")
        shutil.copyfile(problem.folder / "stub.py", folder / "stub.py")
    (options.folder / "drawn.toml").write_text(questions, encoding="utf-8")
    (options.folder / "answers.toml").write_text(answers, encoding="utf-8")
    print(f"{len(drawn)} bugs of {len({problem.id for problem, _ in drawn})} problems: {options.folder}/drawn.toml")
    return 0


if __name__ == "__main__":
    sys.exit(main())
