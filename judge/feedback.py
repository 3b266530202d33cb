"""How much of a report a student may see: an exam wants less than an exercise.

    full      everything
    hint      no diagnosis in the report; `judge hint` tells it last, when it is asked for
    verdict   the verdict, the points, and which cases passed

problem.toml sets what is allowed; a command may ask for less, never for more.
"""

from __future__ import annotations

from typing import Literal

from judge.models import CaseResult, Report

Feedback = Literal["full", "hint", "verdict"]
LEVELS: tuple[Feedback, ...] = ("full", "hint", "verdict")


def least(one: Feedback, other: Feedback) -> Feedback:
    """The level that shows less."""
    return max(one, other, key=LEVELS.index)


def shown(report: Report, level: Feedback) -> Report:
    """What is written for the student."""
    if level == "full":
        return report
    return recorded(report, level).model_copy(update={"diagnosis": None})


def recorded(report: Report, level: Feedback) -> Report:
    """What the record keeps, which the student can read."""
    if level != "verdict":
        return report
    bare = {"diagnosis": None, "stream": (), "remarks": (), "printed": (), "thoroughness": None}
    return report.model_copy(update=bare | {"cases": tuple(map(_bare, report.cases))})


def _bare(case: CaseResult) -> CaseResult:
    return CaseResult(name=case.name, sentence=case.sentence, status=case.status)
