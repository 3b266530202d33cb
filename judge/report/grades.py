"""The reports of many submissions: a line for each, and their sum."""

from __future__ import annotations

import json
from collections import Counter

from judge.counted import counted
from judge.models import Report
from judge.report import clean, likeness
from judge.report.steps import root_cause

_NAME = 40


def line(report: Report) -> str:
    """Show a report in a line: points, verdict, file, and the first case that failed."""
    root = root_cause(report)
    why = root.name if root else f"{_line(report)}{clean.line(report.message or '')}"
    if report.verdict == "closed function used":
        why = ", ".join(clean.line(use.name) for use in report.closed)
    if report.diagnosis is not None:
        why += "".join(f": {lead} {what} {rest}".rstrip() for lead, what, rest in likeness.sentences(report.diagnosis))
    name = clean.line(report.file)
    name = name if len(name) <= _NAME else "..." + name[3 - _NAME :]
    return f"{report.points:3}/{report.max_points:<3} {report.verdict:20} {name:{_NAME}} {why}".rstrip()


def _line(report: Report) -> str:
    return "" if report.line is None else f"line {report.line}: "


def row(report: Report) -> str:
    """Write a report as one line of JSON, without the cases that passed."""
    facts = report.model_dump(mode="json", include={"problem", "file", "source_sha256", "verdict", "message", "line"})
    facts |= {"points": report.points, "max_points": report.max_points, "seed": report.seed}
    facts["failed"] = [case.name for case in report.failed]
    facts["closed"] = [use.name for use in report.closed]
    facts["diagnosis"] = [like.mutant for like in report.diagnosis.mutants] if report.diagnosis else []
    return json.dumps(facts, allow_nan=False)


def total(verdicts: Counter[str], seconds: float) -> str:
    """Sum up: how many of each verdict, and how fast."""
    count = sum(verdicts.values())
    parts = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common())
    return f"\n{counted(count, 'submission')} in {seconds:.1f} s: {parts}"
