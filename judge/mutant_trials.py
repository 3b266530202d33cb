"""Mutants on the oracle side: in forked children, which run them on every case and say how they fared.

They are our own code, so they need no lock and no wire; a child keeps what they do to PyTorch's settings to itself.
`judge verify --production` judges them like a student's file instead, and both ways have to agree.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judge.agreement import agree
from judge.compare import Comparison, Difference, compare
from judge.drawn import DrawnCall, DrawnCase, DrawnProblem, Outcome, load
from judge.observation import Observation
from judge.processes.wire import decoder
from judge.side_by_side import side_by_side

_CLEAR = 0.01  # ten times what a proof asks for


def trials(
    problem: DrawnProblem, mutants: Sequence[Mapping[str, Any]], seconds: float, at_once: int
) -> Iterator[tuple[Mapping[str, Any], dict[str, Any] | None]]:
    """Each mutant (its ``name``, its ``source``, the ``cases`` it meets if not all) and how it fared, as it is ready.

    How: the cases that it fails, and how clearly; None if it gave no answer in ``seconds`` of processor time.
    """
    tasks = [functools.partial(_fared, problem, **mutant) for mutant in mutants]
    for number, fared in side_by_side(tasks, seconds, at_once):
        yield mutants[number], fared


def equal_pairs(
    problem: DrawnProblem, sources: Mapping[str, str], fared: Mapping[str, Any], seconds: float
) -> list[list[str]] | None:
    """Pairs of mutants that no call tells apart; only those that fail the same cases can be. None: no time for it."""
    groups: dict[str, list[str]] = {}
    for name in sources:
        groups.setdefault(json.dumps([fared[name]["failed"], fared[name]["random"]]), []).append(name)
    alike = [group for group in groups.values() if len(group) > 1]

    def find() -> dict[str, Any]:
        return {"pairs": [pair for group in alike for pair in _never_split(problem, group, sources)]}

    ((_, found),) = side_by_side([find], seconds)
    return None if found is None else list(found["pairs"])


def _fared(problem: DrawnProblem, name: str, source: str, cases: Sequence[str]) -> dict[str, Any]:
    chosen = [case for case in problem.cases if not cases or case.name in cases]
    namespace = load(Path(f"mutant {name}"), source)
    outcomes = {case.name: _outcome(problem, namespace, case) for case in chosen}
    failed = [case for case, outcome in outcomes.items() if not outcome.passed]
    severity = max((outcomes[case].severity for case in failed), default=0.0)
    random = [case.name for case in chosen if any(call.program.random for call in case.calls)]
    return {
        "failed": failed,
        "severity": severity if math.isfinite(severity) else None,
        "random": {name: outcomes[name].complaints for name in random},  # all that can tell random calls apart
    }


def _outcome(problem: DrawnProblem, namespace: dict[str, Any], case: DrawnCase) -> Outcome:
    """What comes of a case; one call that clearly fails is enough, unless its complaints are asked for."""
    observed: list[Observation] = []
    compared: dict[int, Comparison] = {}
    whole = any(call.program.random for call in case.calls)
    for call in case.calls:
        found = [] if whole else _at_a_glance(problem, namespace, call)
        if not _clear(found):
            observed.append(problem.observe(namespace, call))
            compared[call.number] = problem.compare(call, observed[-1])
            found = compared[call.number].differences
        if not whole and _clear(found):
            return Outcome(differences=found)
    return problem.judge_case(case, observed, compared)


def _at_a_glance(problem: DrawnProblem, namespace: dict[str, Any], call: DrawnCall) -> list[Difference]:
    """What a bare run's values show, at a sixth of the price of a call that is observed with everything."""
    if call.program.light or call.program.raises:
        return []
    seen = problem.glance(namespace, decoder(call.data))
    expected = replace(problem.expected[call.number], gradients={}, detached=())
    return compare(seen, expected, call.program, call.label).differences


def _clear(differences: Sequence[Difference]) -> bool:
    return any(difference.error > _CLEAR for difference in differences)


def _never_split(problem: DrawnProblem, group: Sequence[str], sources: Mapping[str, str]) -> list[list[str]]:
    """Go through the calls, cheapest first, and part what a call tells apart, until there is nothing left to part."""
    namespaces = {name: load(Path(f"mutant {name}"), sources[name]) for name in group}
    together = [list(group)]
    calls = [call for case in problem.cases for call in case.calls if not call.program.random]
    for call in sorted(calls, key=lambda call: len(call.data)):
        if not together:
            break
        parted: list[list[str]] = []
        for names in together:
            parts: list[tuple[Observation, list[str]]] = []
            for name in names:
                seen = problem.observe(namespaces[name], call)
                scales = problem.expected[call.number].scales
                like = next((own for one, own in parts if agree(seen, one, call.program, scales)), None)
                if like is None:
                    parts.append((seen, [name]))
                else:
                    like.append(name)
            parted += [own for _, own in parts if len(own) > 1]
        together = parted
    return [[names[0], other] for names in together for other in names[1:]]
