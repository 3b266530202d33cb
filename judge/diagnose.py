"""Which seeded bug a failing submission behaves like.

Every mutant runs the cheapest failing call once; those with the same values run the cases, failing ones first, and are
dropped at the first on which they do not fare as the submission did. Equal observations on all cases (to 1e-5):
"behaves exactly like". The same cases fail, with other values: "fails the same cases as". Where the time is used up,
nothing more is claimed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch

from judge.compare import compare, manners
from judge.drawn import DrawnCall, DrawnCase, DrawnProblem, Outcome, load
from judge.mutants import Mutant
from judge.observation import Observation
from judge.program import Program

_SECONDS = 6.0
_MOST = 3

Strength = Literal["exactly", "same cases"]


@dataclass(frozen=True, slots=True)
class Likeness:
    """A mutant that explains the observations: of everything, or of the cases about one entry point, ``part``."""

    mutant: Mutant
    part: str | None = None


@dataclass(slots=True)
class _Search:
    """What the search goes through, and until when."""

    problem: DrawnProblem
    mutants: Sequence[Mutant]
    observed: dict[int, Observation]
    outcomes: dict[str, Outcome]
    deadline: float

    def cases(self) -> list[DrawnCase]:
        """The judged cases: the failing ones first, the cheapest first."""
        chosen = [case for case in self.problem.cases if case.name in self.outcomes]
        return sorted(chosen, key=lambda case: (self.outcomes[case.name].passed, sum(len(c.data) for c in case.calls)))


def diagnose(
    problem: DrawnProblem, mutants: Sequence[Mutant], observed: dict[int, Observation], outcomes: dict[str, Outcome]
) -> tuple[Strength, list[Likeness]] | None:
    """The mutants that explain the observations best; None if no one does. Cases without an outcome are left out.

    Where no mutant explains everything, each entry point is explained by its own calls, if all that fail can be: a
    mutant may change both of two like functions, and a student only one.
    """
    search = _Search(problem, mutants, observed, outcomes, time.process_time() + _SECONDS)
    cases = search.cases()
    exact = _equal(search, cases)
    if exact:
        return "exactly", [Likeness(mutant) for mutant in exact[:_MOST]]
    parts = _failing_parts(search, cases)
    explained = {
        part: [mutant for mutant in mutants if _explains(search, mutant, calls)] for part, calls in parts.items()
    }
    if explained and all(explained.values()):
        shared = [mutant for mutant in mutants if all(mutant in found for found in explained.values())]
        found = {part: (shared or own)[0] for part, own in explained.items()}
        return "exactly", [Likeness(mutant, part) for part, mutant in found.items()]
    alike = [mutant for mutant in mutants if _likeness(search, mutant, cases)]
    if time.process_time() < search.deadline and 0 < len(alike) <= _MOST:
        return "same cases", [Likeness(mutant) for mutant in alike]
    return None


def agree(one: Observation, other: Observation, program: Program, scales: dict[str, float]) -> bool:
    """Whether two observations of a call are the same in every facet; ``scales``: the gradients' natural sizes."""
    if (one.error is None) != (other.error is None):
        return False
    if one.error and other.error:
        return one.error.type == other.error.type
    did = [{(d.facet, d.subject) for d in manners(o)} for o in (one, other)]
    if did[0] != did[1] or (one.gradient_error is None) != (other.gradient_error is None):
        return False
    if program.random:
        return True
    differences = [
        d
        for d in compare(
            _finite(one), _finite(replace(other, scales=scales)), replace(program, raises=None)
        ).differences
        if d.facet in ("value", "gradient", "shape", "dtype", "structure")
    ]
    return not differences and set(one.detached) == set(other.detached)


def _failing_parts(search: _Search, cases: Sequence[DrawnCase]) -> dict[str, list[DrawnCall]]:
    """The calls of each entry point that differs from the reference somewhere, the differing ones first."""
    parts: dict[str, list[DrawnCall]] = {}
    wrong: set[int] = set()
    for call in (call for case in cases if case.check is None for call in case.calls):
        parts.setdefault(call.program.entry, []).append(call)
        expected = search.problem.expected[call.number]
        if compare(search.observed[call.number], expected, call.program, call.label).differences:
            wrong.add(call.number)
    return {
        part: sorted(calls, key=lambda call: (call.number not in wrong, len(call.data)))
        for part, calls in parts.items()
        if any(call.number in wrong for call in calls)
    }


def _explains(search: _Search, mutant: Mutant, calls: Sequence[DrawnCall]) -> bool:
    """Whether a mutant gives on these calls what the submission gave."""
    first, namespace = calls[0], _load(mutant)
    glance = search.problem.glance(namespace, first)
    if time.process_time() > search.deadline or not _same_values(search.observed[first.number], glance, first.program):
        return False
    return all(
        time.process_time() < search.deadline
        and agree(
            search.observed[call.number],
            search.problem.observe(namespace, call),
            call.program,
            search.problem.expected[call.number].scales,
        )
        for call in calls
    )


def _equal(search: _Search, cases: Sequence[DrawnCase]) -> list[Mutant]:
    """The mutants that are equal on these cases; one look at the cheapest failing call leaves few to try."""
    call = min(cases[0].calls, key=lambda call: len(call.data))
    seen = search.observed[call.number]
    return [
        mutant
        for mutant in search.mutants
        if time.process_time() < search.deadline
        and (call.program.random or _same_values(seen, search.problem.glance(_load(mutant), call), call.program))
        and _likeness(search, mutant, cases, equal=True) == "exactly"
    ]


def _same_values(one: Observation, other: Observation, program: Program) -> bool:
    if one.error and other.error:
        return one.error.type == other.error.type
    if one.error or other.error:
        return False
    given, expected = (_finite(Observation(values=observation.values)) for observation in (one, other))
    return not compare(given, expected, replace(program, raises=None)).differences  # both returned, asked for or not


def _likeness(search: _Search, mutant: Mutant, cases: Sequence[DrawnCase], *, equal: bool = False) -> Strength | None:
    """How a mutant fares on these cases beside the submission; ``equal``: give up where it is no longer equal."""
    namespace, exactly = _load(mutant), True
    for case in cases:
        if time.process_time() > search.deadline:
            return None
        given = [search.problem.observe(namespace, call) for call in case.calls]
        alike = all(
            agree(search.observed[call.number], one, call.program, search.problem.expected[call.number].scales)
            for call, one in zip(case.calls, given, strict=True)
        )
        drawn = any(call.program.random for call in case.calls)  # values differ from run to run, complaints don't
        if drawn or not alike:  # what is equal fares alike, but for rounding at the tolerance
            outcome, own = search.problem.judge_case(case, given), search.outcomes[case.name]
            if outcome.passed != own.passed:
                return None
            alike = alike and outcome.complaints == own.complaints
        exactly = exactly and alike
        if equal and not exactly:
            return None
    return "exactly" if exactly else "same cases"


def _finite(observation: Observation) -> Observation:
    """NaN and infinities as numbers: two wrong results that are not finite at the same places are alike."""
    return replace(observation, values=_as_numbers(observation.values), gradients=_as_numbers(observation.gradients))


def _as_numbers(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.nan_to_num(nan=1e3, posinf=2e3, neginf=-2e3)
    if isinstance(value, dict):
        return {key: _as_numbers(part) for key, part in value.items()}
    return type(value)(map(_as_numbers, value)) if isinstance(value, (list, tuple)) else value


def _load(mutant: Mutant) -> dict[str, Any]:
    return load(Path(f"mutant {mutant.name}"), mutant.source)
