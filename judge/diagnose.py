"""Which seeded bugs a failing submission behaves like, from its observations alone.

    exactly      equal on every call of every case, to 1e-5: one mutant, or, for each entry point that fails, one of its
                 own, or two mutants at once
    failing      equal on every call of the failing cases, not on the others (if all of these draw, it is "same cases")
    closest      equal at a glance on at least half of the failing cases that values tell
    same cases   fails the same cases in the same respects, with values that are not far from it, or that are drawn
                 (dropout)

The bugs that are known to fail just these cases come first, and a glance at one call of each failing case leaves few
bugs to look at closely. Where the time is used up, what was found by then is claimed, and it is the weaker claim.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from judge import kill_matrix
from judge.drawn import DrawnCall, DrawnCase, DrawnProblem, Outcome
from judge.errors import ProblemError
from judge.mutants import REFERENCE, Mutant, compose
from judge.observation import Observation
from judge.suspects import Bug, OutOfTimeError, Search

_SECONDS = 2.5
_MOST = 3  # a claim that names more says nothing
_MOST_PAIRS = 20  # that are looked at closely
_MOST_GLANCES = 300
_FEW = 3
_LEAST_SHARE = 0.5
_NEAR = 0.8  # of the way to the reference

Strength = Literal["exactly", "failing", "closest", "same cases"]


@dataclass(frozen=True, slots=True)
class Likeness:
    """A mutant that explains the observations: of everything, or of the cases about one entry point, ``part``."""

    mutant: Mutant
    part: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What was found. ``together``: both mutants at once; otherwise each alone, or each its own part."""

    strength: Strength
    likenesses: tuple[Likeness, ...]
    together: bool = False
    share: float | None = None  # of the failing cases, for "closest"


def diagnose(
    problem: DrawnProblem, mutants: Sequence[Mutant], observed: dict[int, Observation], outcomes: dict[str, Outcome]
) -> Found | None:
    """The strongest claim that holds; None if none does. Cases without an outcome are left out."""
    return _Diagnosis(problem, mutants, Search(problem, observed, outcomes, _SECONDS)).strongest()


class _Diagnosis:
    def __init__(self, problem: DrawnProblem, mutants: Sequence[Mutant], search: Search):
        self._problem = problem
        self._search = search
        self._kills = kill_matrix.load(problem.folder)
        self._failing = failing = {case.name for case in search.failing}
        judged = failing | {case.name for case in search.passing}
        known = self._kills.keys() == {mutant.name for mutant in mutants}
        self._proven = known and len(judged) == len(problem.cases)  # so no two mutants are equal on them
        self._bugs = [Bug((mutant,)) for mutant in mutants]
        self._suspects = [  # whatever is equal to one of these fails what it has to fail
            bug for bug in self._bugs if failing.issuperset(judged.intersection(bug.mutants[0].kills))
        ]
        self._explained: dict[str, set[str]] = {}  # mutant -> failing cases whose telling call it equals at a glance
        self._far: dict[str, float] = {}  # mutant -> its distance over all telling calls
        self._weaker: Found | None = None

    def strongest(self) -> Found | None:
        try:
            return self._exactly() or self._by_entry_point() or self._in_pairs() or self._weaker or self._same_cases()
        except OutOfTimeError:
            return self._weaker

    def _exactly(self) -> Found | None:
        search = self._search
        exact: list[Bug] = []
        failing: list[Bug] = []
        suspected = {bug.mutants[0].name for bug in self._suspects}
        only_random = all(any(call.program.random for call in case.calls) for case in search.failing)
        weaker: Strength = "same cases" if only_random else "failing"
        for bug in sorted(self._bugs, key=lambda bug: (self._unlike(bug), bug.mutants[0].name not in suspected)):
            if self._unlike(bug) if only_random else (exact and self._proven):
                break
            if self._equal_at_a_glance(bug) and all(search.fares_alike(bug, case) for case in search.failing):
                failing.append(bug)
                self._weaker = _alone(weaker, failing) if len(failing) <= _MOST else None
                if bug.mutants[0].name in suspected and all(self._passes_alike(bug, case) for case in search.passing):
                    exact.append(bug)
        return _alone("same cases" if only_random else "exactly", exact[:_MOST]) if exact else None

    def _unlike(self, bug: Bug) -> int:
        """How many cases a bug is known to fail and the submission does not, or the other way round."""
        return len(self._failing ^ self._kills[bug.mutants[0].name]) if self._proven else 0

    def _passes_alike(self, bug: Bug, case: DrawnCase) -> bool:
        """Whether a bug gives for a case what the submission gave; less is looked at where it is known to pass it."""
        known = self._proven and case.name not in self._kills[bug.mutants[0].name]
        return self._search.passes_alike(bug, case) if known else self._search.fares_alike(bug, case)

    def _by_entry_point(self) -> Found | None:
        """A mutant may change both of two like functions, and a student only one."""
        parts = self._failing_parts()
        explained = {part: [bug for bug in self._bugs if self._explains(bug, calls)] for part, calls in parts.items()}
        if not explained or not all(explained.values()):
            return None
        shared = [bug for bug in self._bugs if all(bug in bugs for bugs in explained.values())]
        found = {part: (shared or bugs)[0] for part, bugs in explained.items()}
        checked = [case for case in self._search.failing if case.check is not None]
        told = [case for case in checked if any(self._complains_equally(bug, case) for bug in found.values())]
        likenesses = tuple(Likeness(bug.mutants[0], part) for part, bug in found.items())
        if len(told) == len(checked):
            return Found("exactly", likenesses)
        failing = len(self._search.failing)
        if self._weaker is None and len(found) == 1 and (failing - len(checked) + len(told)) >= _LEAST_SHARE * failing:
            share = (failing - len(checked) + len(told)) / failing
            self._weaker = Found("closest", (Likeness(likenesses[0].mutant),), share=share)
        return None

    def _in_pairs(self) -> Found | None:
        """Two bugs at once: first those of which one explains much, and the other is known for what remains."""
        for bug in self._suspects:
            self._note_explained(bug)
        self._note_closest(sum(one.call is not None for one in self._search.evidence))
        pairs = sorted(combinations(self._suspects, 2), key=self._worth, reverse=True)
        reference = (self._problem.folder / REFERENCE).read_text(encoding="utf-8")
        composed = 0
        for first, second in pairs[:_MOST_GLANCES]:
            both = compose(reference, first.mutants[0], second.mutants[0])
            if both is None:
                continue
            bug = Bug((*first.mutants, *second.mutants), both)
            with contextlib.suppress(ProblemError):  # two edits that don't go together
                if not self._equal_at_a_glance(bug):
                    continue
                composed += 1
                if all(self._search.fares_alike(bug, case) for case in (*self._search.failing, *self._search.passing)):
                    return Found("exactly", tuple(map(Likeness, bug.mutants)), together=True)
            if composed == _MOST_PAIRS:
                break
        return None

    def _note_explained(self, bug: Bug) -> None:
        """Which failing cases a bug explains by itself: their telling call or, where no call tells, the complaints.

        A bug that explains none of the cheapest few is not looked at further.
        """
        told = [(one.case.name, one.call) for one in self._search.evidence if one.call]
        far = {case: self._search.glance(bug, call) for case, call in told[:_FEW]}
        if not all(far.values()):
            far |= {case: self._search.glance(bug, call) for case, call in told[_FEW:]}
        alike = {case for case in far if not far[case]}
        if alike or not told:
            silent = [one.case for one in self._search.evidence if one.call is None]
            known = [case for case in silent if case.name in bug.mutants[0].kills]
            alike |= {case.name for case in known if self._complains_equally(bug, case)}
        name = bug.mutants[0].name
        self._explained[name], self._far[name] = alike, sum(list(far.values())[:_FEW])

    def _complains_equally(self, bug: Bug, case: DrawnCase) -> bool:
        return self._search.outcome(bug, case).complaints == self._search.outcomes[case.name].complaints

    def _same_cases(self) -> Found | None:
        search = self._search
        if len(search.failing) > len(search.passing):  # nearly everything fails nearly everything
            return None
        alike = [
            bug
            for bug in self._suspects
            if self._near(bug)
            and all(_kinds(search.outcome(bug, case)) == _kinds(search.outcomes[case.name]) for case in search.failing)
            and all(search.outcome(bug, case).passed for case in search.passing)
        ]
        return _alone("same cases", alike) if 0 < len(alike) <= _MOST else None

    def _near(self, bug: Bug) -> bool:
        """Whether a bug's values are nearer to the submission's than the reference's are, wherever those differ."""
        told = [one.call for one in self._search.evidence if one.call and not self._search.drew(one.call)]
        return all(self._search.nearness(bug, call) < _NEAR for call in told)

    def _equal_at_a_glance(self, bug: Bug) -> bool:
        return not any(one.call and self._search.glance(bug, one.call) for one in self._search.evidence)

    def _worth(self, pair: tuple[Bug, Bug]) -> tuple[int, float]:
        """How many failing cases the two may explain together, one by itself and the other by what it is known for."""
        one, other = (self._explained[bug.mutants[0].name] for bug in pair)
        kills = [self._failing.intersection(bug.mutants[0].kills) for bug in pair]
        most = max(len(one | other | kills[1]), len(other | one | kills[0])) if one or other else 0
        return most, -min(self._far[bug.mutants[0].name] for bug in pair)

    def _note_closest(self, telling: int) -> None:
        most = max((len(cases) for cases in self._explained.values()), default=0)
        best = [bug for bug in self._suspects if len(self._explained[bug.mutants[0].name]) == most]
        if self._weaker is not None or not telling or most < _LEAST_SHARE * telling or len(best) > 2 * _MOST:
            return
        best = [bug for bug in best if self._complains_alike(bug)]
        if 0 < len(best) <= _MOST:
            self._weaker = _alone("closest", best, share=most / len(self._search.failing))

    def _complains_alike(self, bug: Bug) -> bool:
        """Whether a bug makes at least as many failing cases as it explains complain about the same kinds of things."""
        alike = [
            case.name
            for case in self._search.failing
            if _kinds(self._search.outcome(bug, case)) == _kinds(self._search.outcomes[case.name])
        ]
        return len(alike) >= _LEAST_SHARE * len(self._search.failing)

    def _failing_parts(self) -> dict[str, list[DrawnCall]]:
        """The calls of each entry point that differs from the reference somewhere, the differing ones first."""
        parts: dict[str, list[DrawnCall]] = {}
        wrong: set[int] = set()
        for case in (*self._search.failing, *self._search.passing):
            for call in case.calls if case.check is None else ():
                parts.setdefault(call.program.entry, []).append(call)
                if self._problem.compare(call, self._search.observed[call.number]).differences:
                    wrong.add(call.number)
        return {
            part: sorted(calls, key=lambda call: (call.number not in wrong, len(call.data)))
            for part, calls in parts.items()
            if any(call.number in wrong for call in calls)
        }

    def _explains(self, bug: Bug, calls: Sequence[DrawnCall]) -> bool:
        """Whether a bug gives on these calls what the submission gave."""
        return not self._search.glance(bug, calls[0]) and self._search.agrees(bug, calls)


def _kinds(outcome: Outcome) -> set[str]:
    """What kinds of complaints a case has; gradients follow from values."""
    kinds = {f"raises {d.message.split(':')[0]}" if d.facet == "error" else d.facet for d in outcome.differences}
    return kinds - {"gradient"} if "value" in kinds else kinds


def _alone(strength: Strength, bugs: Sequence[Bug], share: float | None = None) -> Found:
    return Found(strength, tuple(Likeness(bug.mutants[0]) for bug in bugs), share=share)
