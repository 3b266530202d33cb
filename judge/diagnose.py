"""Which seeded bug a failing submission behaves like.

Every mutant runs the failing cases first, the cheapest call first, and is dropped at the first case on which it does
not fare as the submission did. Equal observations on all cases (to 1e-5): "behaves exactly like". The same
cases fail, with other values: "fails the same cases as". Where the time is used up, nothing more is claimed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from judge.compare import compare
from judge.drawn import DrawnCase, DrawnProblem, Outcome, load
from judge.mutants import Mutant
from judge.observation import Observation
from judge.program import Program

_SECONDS = 4.0
_MOST = 3

Strength = Literal["exactly", "same cases"]


def diagnose(
    problem: DrawnProblem, mutants: Sequence[Mutant], observed: dict[int, Observation], outcomes: dict[str, Outcome]
) -> tuple[Strength, list[Mutant]] | None:
    """The mutants that explain the observations best; None if no one does. Cases without an outcome are left out."""
    deadline = time.monotonic() + _SECONDS
    cases = [case for case in problem.cases if case.name in outcomes]
    cases.sort(key=lambda case: (outcomes[case.name].passed, sum(len(call.data) for call in case.calls)))
    exact: list[Mutant] = []
    alike: list[Mutant] = []
    for mutant in mutants:
        if time.monotonic() > deadline:
            break
        likeness = _likeness(problem, mutant, cases, observed, outcomes)
        if likeness is not None:
            (exact if likeness == "exactly" else alike).append(mutant)
    if exact:
        return "exactly", exact[:_MOST]
    return ("same cases", alike) if 0 < len(alike) <= _MOST else None


def agree(one: Observation, other: Observation, program: Program) -> bool:
    """Whether two observations of a call are the same in every facet."""
    if (one.error is None) != (other.error is None):
        return False
    if one.error and other.error:
        return one.error.type == other.error.type
    flags = [
        (
            set(o.changed),
            bool(o.repeat),
            set(o.overwritten),
            set(o.settings),
            o.generator,
            o.mixed is None,
            set(o.elsewhere),
        )
        for o in (one, other)
    ]
    if flags[0] != flags[1] or (one.gradient_error is None) != (other.gradient_error is None):
        return False
    if program.random:
        return True
    differences = [
        d
        for d in compare(one, other, program).differences
        if d.facet in ("value", "gradient", "shape", "dtype", "structure")
    ]
    return not differences and set(one.detached) == set(other.detached)


def _likeness(
    problem: DrawnProblem,
    mutant: Mutant,
    cases: Sequence[DrawnCase],
    observed: dict[int, Observation],
    outcomes: dict[str, Outcome],
) -> Strength | None:
    namespace: dict[str, Any] = load(Path(f"mutant {mutant.name}"), mutant.source)
    exactly = True
    for case in cases:
        given = [problem.observe(namespace, call) for call in case.calls]
        outcome = problem.judge_case(case, given)
        if outcome.passed != outcomes[case.name].passed:
            return None
        if any(call.program.random for call in case.calls):  # values differ from run to run, complaints don't
            exactly = exactly and outcome.complaints == outcomes[case.name].complaints
        exactly = exactly and all(
            agree(observed[call.number], one, call.program) for call, one in zip(case.calls, given, strict=True)
        )
    return "exactly" if exactly else "same cases"
