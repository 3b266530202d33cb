"""The search for what a failing submission behaves like: what it showed, and what seeded bugs show in its place.

A glance is one bare run, values only; looking closely takes every facet that the submission's own observation has.
Namespaces and decoded calls are kept, and all of it ends when the time is used up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from judge.agreement import agree, distance
from judge.compare import manners
from judge.drawn import DrawnCall, DrawnCase, DrawnProblem, Outcome, load
from judge.mutants import Mutant
from judge.observation import Observation
from judge.processes.wire import decoder
from judge.program import Program


class OutOfTimeError(Exception):
    """The search has to end."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A failing case, and the cheapest of its calls whose values, or error, are not the reference's."""

    case: DrawnCase
    call: DrawnCall | None  # None: what is wrong with the case is not in the values of one call


@dataclass(slots=True)
class Bug:
    """A mutant, or two at once, as code that can be run. ``both``: the source with the two of them."""

    mutants: tuple[Mutant, ...]
    both: str | None = None
    _namespace: dict[str, Any] = field(default_factory=dict)

    @property
    def namespace(self) -> dict[str, Any]:
        if not self._namespace:
            source = self.mutants[0].source if self.both is None else self.both
            self._namespace = load(Path(f"mutant {self.mutants[0].name}"), source)
        return self._namespace


class Search:
    """One submission's observations beside what mutants give. Raises OutOfTimeError after ``seconds`` of work."""

    def __init__(
        self, problem: DrawnProblem, observed: dict[int, Observation], outcomes: dict[str, Outcome], seconds: float
    ):
        self.problem = problem
        self.observed = observed
        self.outcomes = outcomes
        self._deadline = time.process_time() + seconds
        self._decoders: dict[int, Callable[[], Program]] = {}
        self._glances: dict[tuple[str, int], float] = {}
        chosen = [case for case in problem.cases if case.name in outcomes]
        self.passing = [case for case in chosen if outcomes[case.name].passed]
        failing = [case for case in chosen if not outcomes[case.name].passed]
        self.failing = sorted(failing, key=lambda case: sum(len(call.data) for call in case.calls))

    @cached_property
    def evidence(self) -> list[Evidence]:
        """What each failing case shows; the cheapest first, and those that a glance can't tell last."""
        found = [Evidence(case, self._telling(case)) for case in self.failing]
        return sorted(found, key=lambda one: (one.call is None, len(one.call.data) if one.call else 0))

    def differs(self, call: DrawnCall) -> bool:
        """Whether the submission's values, or error, are not the reference's."""
        return distance(self.observed[call.number], self.problem.expected[call.number], call.program) > 0

    def drew(self, call: DrawnCall) -> bool:
        """Whether the submission's values are drawn, though they should not be."""
        seen = self.observed[call.number]
        return seen.generator or bool(seen.repeat)

    def nearness(self, bug: Bug, call: DrawnCall) -> float:
        """How far a bug's values are from the submission's, as a share of how far the reference's are."""
        self._check_time()
        given, seen = self.problem.glance(bug.namespace, decoder(call.data)), self.observed[call.number]
        far = distance(self.problem.expected[call.number], seen, call.program)  # both relative to the submission's norm
        return distance(given, seen, call.program) / far if far else 1.0

    def glance(self, bug: Bug, call: DrawnCall) -> float:
        """How far a bug's values for this call are from the submission's; 0 if they are equal, or raise the same."""
        known = "+".join(mutant.name for mutant in bug.mutants), call.number
        if known not in self._glances:
            self._check_time()
            decode = self._decoders.setdefault(call.number, decoder(call.data))
            given = self.problem.glance(bug.namespace, decode)
            self._glances[known] = distance(self.observed[call.number], given, call.program)
        return self._glances[known]

    def agrees(self, bug: Bug, calls: Iterable[DrawnCall]) -> bool:
        """Whether a bug gives in every facet what the submission gave."""
        return all(self._agrees(call, self.look(bug, call)) for call in calls)

    def _agrees(self, call: DrawnCall, given: Observation) -> bool:
        scales = self.problem.expected[call.number].scales
        return agree(self.observed[call.number], given, call.program, scales)

    def fares_alike(self, bug: Bug, case: DrawnCase) -> bool:
        """Whether a bug gives for each call of a case what the submission gave, or, if random, the same complaints."""
        given = []
        for call in case.calls:
            given.append(self.look(bug, call))
            if not self._agrees(call, given[-1]):
                return False
        if not any(call.program.random for call in case.calls):
            return True
        return self.problem.judge_case(case, given).complaints == self.outcomes[case.name].complaints

    def passes_alike(self, bug: Bug, case: DrawnCase) -> bool:
        """Whether a bug that is known to pass a case, as the submission does, gives the same values, too.

        Of a relation's calls only the form is judged; their values may be drawn, as those of fresh parameters are.
        """
        return not any(self.glance(bug, call) for call in case.calls if not (call.program.random or call.form_only))

    def outcome(self, bug: Bug, case: DrawnCase) -> Outcome:
        """How a bug fares on a case."""
        return self.problem.judge_case(case, [self.look(bug, call) for call in case.calls])

    def look(self, bug: Bug, call: DrawnCall) -> Observation:
        """What a bug gives for a call; where the submission's manners are good, the bug's own are not looked at."""
        self._check_time()
        seen = self.observed[call.number]
        if not (seen.error or call.program.raises or any(manners(seen))):
            found = self.problem.results(bug.namespace, call)
            if not found.error:
                return found
        return self.problem.observe(bug.namespace, call)

    def _telling(self, case: DrawnCase) -> DrawnCall | None:
        calls = [call for call in case.calls if not call.program.random and self.differs(call)]
        return min(calls, key=lambda call: len(call.data), default=None)

    def _check_time(self) -> None:
        if time.process_time() > self._deadline:
            raise OutOfTimeError
