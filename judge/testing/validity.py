"""What the runs on correct implementations say about the tests: each of them has to pass each test.

A test that is skipped or expected to fail counts for nothing, and has to do so everywhere. One that gives two answers
is not valid, whatever they are: the two runs, in which other tests came before it, have to agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from judge.models import CaseResult, CaseStatus, Finding
from judge.testing.implementations import Implementation
from judge.testing.said import Item, Outcome, Run
from judge.worker_events import Lost

IDLE = {"skipped": "is skipped", "xfailed": "is expected to fail", "xpassed": "is expected to fail, and passes"}
_MOST_FINDINGS = 3
_ACCIDENTS = 8
_MOST_LINES = 3
_MOST_LETTERS = 100


@dataclass(frozen=True, slots=True)
class Twice:
    """The two runs on a correct implementation: in one direction and in the other."""

    implementation: Implementation
    forwards: Run
    backwards: Run

    @property
    def runs(self) -> tuple[Run, Run]:
        return self.forwards, self.backwards


def judge_test(number: int, items: Sequence[Item], twice: Sequence[Twice]) -> CaseResult:
    """Whether a test is valid; a status of "not reached" says that it counts for nothing."""
    item = items[number]
    base: dict[str, Any] = {
        "name": item.name,
        "sentence": item.sentence or "is to pass on every correct implementation",
    }
    lost = next((run.lost for one in twice for run in one.runs if run.lost and run.at == number), None)
    if lost is not None:
        return _lost(base, item, lost)
    answers = [[_of(run, number) for run in one.runs] for one in twice]
    findings = _two_answers(answers, lambda: _by_order(number, items, twice)) or _refusals(answers, twice)
    if findings:
        return CaseResult(status="wrong answer", findings=tuple(findings[:_MOST_FINDINGS]), **base)
    kinds = {answer.kind for pair in answers for answer in pair if answer is not None}
    idle = next((kind for kind in kinds if kind in IDLE), None)
    if idle is not None:
        return CaseResult(
            status="not reached", remarks=(f"{item.name} {IDLE[idle]}, so it counts for nothing",), **base
        )
    known = all(answer is not None for pair in answers for answer in pair)
    return CaseResult(status="passed" if known else "not reached", **base)


def _lost(base: dict[str, Any], item: Item, lost: Lost) -> CaseResult:
    status: CaseStatus = lost.status
    finding = Finding(facet="validity", subject="on a correct implementation", message=lost.message, line=item.line)
    return CaseResult(status=status, findings=(finding,), **base)


def _two_answers(answers: Sequence[Sequence[Outcome | None]], by_order: Callable[[], str | None]) -> list[Finding]:
    pairs = [(one, other) for one, other in answers if one is not None and other is not None]
    split = [(one, other) for one, other in pairs if one.kind != other.kind]
    if split:
        failed = next((answer for pair in split for answer in pair if answer.kind == "failed"), split[0][0])
        cause = by_order()
        subject = "depends on the tests before it" if cause else "gives two answers about one implementation"
        said = f"{cause or 'by chance, or by what ran before it'}; {_said(failed)}"
        return [Finding(facet="validity", subject=subject, message=said, line=failed.line)]
    kinds = {one.kind for one, _ in pairs}
    if len(kinds) > 1 and kinds & IDLE.keys():
        idle = next(kind for kind in kinds if kind in IDLE)
        message = f"it {IDLE[idle]} on some correct implementations, and not on others"
        return [Finding(facet="validity", subject="gives two answers", message=message)]
    return []


def _by_order(number: int, items: Sequence[Item], twice: Sequence[Twice]) -> str | None:
    """The test without which, or with which before it, this one fails, if that explains all runs and is no accident."""
    seen = []
    for run in (run for one in twice for run in one.runs if number in run.outcomes):
        order = list(run.outcomes)
        seen.append((frozenset(order[: order.index(number)]), run.outcomes[number].kind == "passed"))
    if 2 * len(items) * _ACCIDENTS > 1 << len(seen):  # so few runs that some test explains them by accident
        return None
    if all(passed == bool(before) for before, passed in seen):
        return "fails alone, and passes after another"
    for other, item in enumerate(items):
        if other != number and all(passed == (other in before) for before, passed in seen):
            return f"passes only after {item.name}"
        if other != number and all(passed != (other in before) for before, passed in seen):
            return f"fails after {item.name}"
    return None


def _refusals(answers: Sequence[Sequence[Outcome | None]], twice: Sequence[Twice]) -> list[Finding]:
    """Which correct implementations a test refuses, by the liberty that each takes."""
    failed = [
        (one.implementation, answer)
        for one, pair in zip(twice, answers, strict=True)
        for answer in pair[:1]
        if answer is not None and answer.kind == "failed"
    ]
    if failed and len(failed) == len(twice):
        failed = failed[:1]
        subjects = ["refuses every correct implementation"]
    else:
        subjects = [f"refuses a correct implementation that {implementation.style}" for implementation, _ in failed]
    return [
        Finding(facet="validity", subject=subject, message=_said(answer), line=answer.line)
        for subject, (_, answer) in zip(subjects, failed, strict=True)
    ]


def _said(outcome: Outcome) -> str:
    lines = [line.strip()[:_MOST_LETTERS] for line in outcome.message.splitlines()[:_MOST_LINES]]
    return "; ".join(lines) if lines else f"it {outcome.kind}"


def _of(run: Run, number: int) -> Outcome | None:
    return run.outcomes.get(number)
