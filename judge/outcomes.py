"""What came of a submission's run, in the words of a report: cases, verdict, remarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge.counted import counted
from judge.models import (
    CaseResult,
    CaseStatus,
    ClosedUse,
    Diagnosis,
    Finding,
    Resemblance,
    Submission,
    Verdict,
)
from judge.running import Ran
from judge.worker_events import Lost

_PRINTED_LINES = 20


def case_result(case: dict[str, Any], result: dict[str, Any], ran: Ran, *, inputs_shown: bool) -> CaseResult:
    """What came of a planned case, by the oracle worker's ``result`` and by what ran."""
    found: dict[str, Any] = {"name": case["name"], "sentence": case["sentence"]}
    if inputs_shown:
        found["inputs"] = case["inputs"]
    found["printed"] = last_lines(b"".join(ran.printed.get(number, b"") for number in case["calls"]))
    if all(number in ran.seconds for number in case["calls"]):
        found["seconds"] = sum(ran.seconds[number] for number in case["calls"])
    lost = next((ran.lost[number] for number in case["calls"] if number in ran.lost), None)
    if lost:
        which = next(place for place, number in enumerate(case["calls"], start=1) if number in ran.lost)
        subject = "the call" if len(case["calls"]) == 1 else f"call {which} of {len(case['calls'])}"
        finding = Finding(facet="error", subject=subject, message=lost.message, line=lost.line)
        return CaseResult(status=lost.status, findings=(finding,), traceback=lost.traceback, **found)
    outcome = result["cases"].get(case["name"])
    if outcome is None:
        return CaseResult(status="not reached", **found)
    found["error"] = outcome["worst"]
    findings = tuple(Finding(**finding) for finding in outcome["findings"])
    if not inputs_shown:  # a map shows their sizes
        findings = tuple(finding.model_copy(update={"heat": None}) for finding in findings)
    status: CaseStatus = (outcome["failure"] or "wrong answer") if findings else "passed"
    return CaseResult(
        status=status,
        findings=findings,
        remarks=tuple(outcome["remarks"]),
        traceback=tuple(outcome["traceback"]),
        **found,
    )


def verdict_of(
    cases: Sequence[CaseResult], closed: Sequence[ClosedUse], ran: Ran, practice: bool, over_memory: bool
) -> tuple[Verdict, str | None]:
    """The verdict and, where no case says why, its one sentence."""
    if ran.import_lost:
        return ran.import_lost.status, ran.import_lost.message
    if closed:
        return "closed function used", None
    for case in cases:
        if case.status != "passed" and case.status != "not reached":
            return case.status, None
    if over_memory:
        return "memory limit", f"the process grew to {ran.peak_mib:.0f} MiB"
    if ran.settings_after:  # by a call whose manners no case is about, or that raised
        return "wrong answer", f"a call leaves PyTorch's {', '.join(ran.settings_after)} changed"
    if ran.settings:
        return "wrong answer", f"importing the file leaves PyTorch's {', '.join(ran.settings)} changed"
    if any(case.status == "not reached" for case in cases) or ran.lost:
        lost = next(iter(ran.lost.values()), Lost("time limit", "not every case was reached"))
        return lost.status, lost.message
    return ("passed these cases" if practice else "accepted"), None


def not_reached(planned: Sequence[dict[str, Any]], cases: Sequence[CaseResult], ran: Ran) -> str | None:
    """Why some cases were not reached: which ones had no answer, the first one first; None if all were."""
    left_out = sum(case.status == "not reached" for case in cases)
    if not (left_out and ran.lost):
        return None
    names = {number: case["name"] for case in planned for number in case["calls"]}
    lost = dict.fromkeys(names.get(number, "the measurement of the residual stream") for number in ran.lost)
    rest = f"{counted(left_out, 'case')} that {'comes' if left_out == 1 else 'come'} after"
    was = "was" if left_out == 1 else "were"
    return f"cases run in a random order; {' and then '.join(lost)} gave no answer, so {rest} {was} not reached"


def remarks_of(submission: Submission, cases: Sequence[CaseResult], ran: Ran) -> tuple[str, ...]:
    """What is worth saying beside the verdict, each kind once."""
    remarks = [*submission.remarks]
    if ran.seeded:
        remarks.append("importing the file seeds PyTorch's random generator; leave it as it was")
    if all(case.status == "passed" for case in cases):  # beside a failure, a small error may be the same mistake
        remarks += [remark for case in cases for remark in case.remarks]
    kinds = {remark.split(" (relative error")[0]: remark for remark in reversed(remarks)}
    return tuple(reversed(kinds.values()))


def last_lines(printed: bytes) -> tuple[str, ...]:
    """The last lines of what was printed."""
    return tuple(printed.decode("utf-8", errors="replace").splitlines()[-_PRINTED_LINES:])


def unique_uses(uses: Sequence[ClosedUse]) -> tuple[ClosedUse, ...]:
    """One use per line; the first name that was found for a line is the one that the student wrote."""
    return tuple({use.line: use for use in reversed(uses)}.values())[::-1]


def diagnosis_of(found: dict[str, Any] | None) -> Diagnosis | None:
    """The oracle worker's diagnosis as a report holds it."""
    if found is None:
        return None
    return Diagnosis(**found | {"mutants": tuple(Resemblance(**mutant) for mutant in found["mutants"])})
