"""Root cause first: a case that builds on one that fails tells nothing new, and is shown as not reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judge.models import CaseResult


def root_causes(results: Sequence[CaseResult], plan: Sequence[Mapping[str, Any]]) -> tuple[CaseResult, ...]:
    """The results, those that failed in consequence of an earlier one replaced by "not reached".

    ``plan``: of each case its ``name``, the cases that it comes ``after``, and whether it ``raises``: an error that is
    asked for does not depend on values, so it is held back only where a call before it gave none at all.
    """
    planned = {case["name"]: case for case in plan}
    causes: dict[str, CaseResult] = {}  # failing case -> the first one to mend
    shown = []
    for result in results:
        if result.status not in ("passed", "not reached"):
            case = planned[result.name]
            before = [causes[name] for name in case["after"] if name in causes]
            cause = next((one for one in before if one.status != "wrong answer" or not case["raises"]), None)
            causes[result.name] = cause or result
            if cause is not None:
                result = _held_back(result, cause.name)
        shown.append(result)
    return tuple(shown)


def _held_back(result: CaseResult, cause: str) -> CaseResult:
    return CaseResult(
        name=result.name, sentence=result.sentence, status="not reached", inputs=result.inputs, after=cause
    )
