"""Mutants on the oracle side: each in a forked child of its own, which runs it on every case and says how it fared.

They are our own code, so they need no lock and no wire; the child keeps what they do to PyTorch's settings to itself.
`judge verify --production` judges them like a student's file instead, and both ways have to agree.
"""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from judge.agreement import agree
from judge.drawn import DrawnCase, DrawnProblem, Outcome, load
from judge.observation import Observation
from judge.processes import libc

_MOST_SECONDS = 240  # whoever asked waits 300
_CLEAR = 0.01  # ten times what a proof asks for


def trial(
    problem: DrawnProblem, name: str, source: str, seconds: float, cases: Sequence[str] = ()
) -> dict[str, Any] | None:
    """The cases, of all or of ``cases``, that a mutant fails, and how clearly.

    None if it gave no answer in ``seconds`` of processor time.
    """
    chosen = [case for case in problem.cases if not cases or case.name in cases]
    return _in_a_child(lambda: _fared(chosen, problem, name, source), seconds)


def equal_pairs(
    problem: DrawnProblem, sources: Mapping[str, str], fared: Mapping[str, Any], seconds: float
) -> list[list[str]] | None:
    """Pairs of mutants that no call tells apart; only those that fail the same cases can be. None: no time for it."""
    groups: dict[str, list[str]] = {}
    for name in sources:
        groups.setdefault(json.dumps([fared[name]["failed"], fared[name]["random"]]), []).append(name)
    alike = [group for group in groups.values() if len(group) > 1]
    found = _in_a_child(
        lambda: {"pairs": [p for group in alike for p in _never_split(problem, group, sources)]}, seconds
    )
    return None if found is None else list(found["pairs"])


def _fared(cases: Sequence[DrawnCase], problem: DrawnProblem, name: str, source: str) -> dict[str, Any]:
    namespace = load(Path(f"mutant {name}"), source)
    outcomes = {case.name: _outcome(problem, namespace, case) for case in cases}
    failed = [case for case, outcome in outcomes.items() if not outcome.passed]
    severity = max((outcomes[case].severity for case in failed), default=0.0)
    random = [case.name for case in cases if any(call.program.random for call in case.calls)]
    return {
        "failed": failed,
        "severity": severity if math.isfinite(severity) else None,
        "random": {name: outcomes[name].complaints for name in random},  # all that can tell random calls apart
    }


def _outcome(problem: DrawnProblem, namespace: dict[str, Any], case: DrawnCase) -> Outcome:
    """What comes of a case; one call that clearly fails is enough, unless its complaints are asked for."""
    observed: list[Observation] = []
    whole = any(call.program.random for call in case.calls)
    for call in case.calls:
        observed.append(problem.observe(namespace, call))
        found = problem.compare(call, observed[-1]).differences
        if not whole and any(difference.error > _CLEAR for difference in found):
            return Outcome(differences=found)
    return problem.judge_case(case, observed)


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


def _in_a_child(compute: Callable[[], dict[str, Any]], seconds: float) -> dict[str, Any] | None:
    reading, writing = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            libc.prctl(libc.SET_PDEATHSIG, signal.SIGKILL)  # a fork forgets it
            if os.getppid() != parent:
                os._exit(1)
            signal.alarm(min(_MOST_SECONDS, math.ceil(4 * seconds)))  # a mutant may sleep
            os.close(reading)
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds)))
            data = json.dumps(compute()).encode()
            while data:
                data = data[os.write(writing, data) :]
        except BaseException:
            sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
        finally:  # nothing of a child may ever unwind into the oracle worker's loop
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    return json.loads(data) if data else None
