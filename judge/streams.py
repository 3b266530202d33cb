"""`judge stream`: the residual stream and its gradient by depth, deeper than a submit looks and for several draws."""

from __future__ import annotations

import ast
import contextlib
import secrets
from collections.abc import Callable
from pathlib import Path

from judge.catalog import load_problems
from judge.errors import UsageError
from judge.models import Growth, Problem, StreamCurve, StreamReport
from judge.parsing import parse
from judge.pipeline import OpenProblem
from judge.processes.supervision import Engine
from judge.submission import read_submission

DEPTH = 32
_DRAWS = 3
PREDICTION = (  # what holds of fresh weights, gain 1 and bias 0, in every draw
    "a post-norm block ends in a norm, so its stream stays at 1; a pre-norm block only adds, about as much at every "
    "depth, so its stream grows: like depth^0.5 where blocks are independent, up to depth^1 where one is repeated",
    "in a pre-norm stack the skip carries the gradient past every norm, so it arrives at the first block larger than "
    "it leaves the last; in a post-norm stack it goes through every norm, and may arrive orders of magnitude smaller",
)


def measure(
    problem: Problem,
    path: Path,
    engine: Engine,
    *,
    seed: int | None = None,
    depth: int = DEPTH,
    station: Callable[[str], None] = lambda text: None,
) -> StreamReport:
    """Measure a file's streams: curves of the first draw, growth over all. Raises UsageError where there are none."""
    if problem.feedback == "verdict":
        raise UsageError(f"{problem.id} shows the verdict only, so there is no stream to look at")
    names = stream_names(problem)
    if not names:
        others = ", ".join(other.id for other in load_problems() if other.stream)
        raise UsageError(f"{problem.id} measures no residual stream; these do: {others}")
    submission = read_submission(path, problem)
    seed = secrets.randbits(32) if seed is None else seed
    drawn: list[tuple[StreamCurve, ...]] = []
    for number in range(_DRAWS):
        station(f"measuring, draw {number + 1} of {_DRAWS}")
        opened = OpenProblem(problem, engine, seed=(seed + number) % (1 << 32), cases=names, depth=depth)
        with contextlib.closing(opened):
            report = opened.judge(submission)
        if not report.stream:
            raise UsageError(f"{path}: {report.message or 'the streams could not be measured'}")
        drawn.append(report.stream)
    return StreamReport(
        problem=problem.id,
        title=problem.title,
        file=str(path),
        seed=seed,
        curves=drawn[0],
        growth=tuple(_growth([curves[place] for curves in drawn]) for place in range(len(drawn[0]))),
        prediction=PREDICTION,
    )


def stream_names(problem: Problem) -> list[str]:
    """The names of a problem's @stream functions, without running anything."""
    tree = parse((problem.folder / "cases.py").read_text(encoding="utf-8"))
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(mark, ast.Name) and mark.id == "stream" for mark in node.decorator_list)
    ]


def _growth(curves: list[StreamCurve]) -> Growth:
    own = [curve.exponent for curve in curves if curve.exponent is not None]
    reference = [curve.reference_exponent for curve in curves if curve.reference_exponent is not None]
    return Growth(
        label=curves[0].label,
        own=(min(own), max(own)) if len(own) == len(curves) else None,
        reference=(min(reference), max(reference)) if reference else None,
    )
