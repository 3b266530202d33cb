"""The report as one page that stands alone: no script, no resource from elsewhere, figures as SVG in the page.

Every text is data: it is cleaned as for a terminal, capped and escaped at the one place where the template writes it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2  # torch requires it, so it is there wherever anything can be judged

from judge.counted import counted
from judge.models import CaseResult, Finding, Report
from judge.report import clean, curves, heat, likeness, lines, words
from judge.report.steps import next_commands, replay, root_cause, split_findings

_TEMPLATES = Path(__file__).parent / "templates"
_LONGEST = 1000  # characters of one text
_BEFORE_CARET = 60


@dataclass(frozen=True, slots=True)
class _Where:
    """What differs in a case: findings, each with its figure if it has one, and whether gradients follow from them."""

    findings: tuple[tuple[Finding, heat.HeatFigure | None], ...]
    consequences: bool
    traceback: Sequence[str]
    printed: Sequence[str]


def render(report: Report, *, verbose: bool = True, following: str | None = None, options: str = "") -> str:
    """Write the page; it is always complete, whatever the view that was asked for."""
    root = root_cause(report)
    return _template().render(
        report=report,
        colour=_colour(report),
        root=root,
        where=None if root is None else _where(root),
        others={case.name: _where(case) for case in report.failed if case is not root and case.findings},
        claims=() if report.diagnosis is None else tuple(likeness.sentences(report.diagnosis)),
        commands=tuple(next_commands(report, following, options)),
        replay=replay(report, options),
        points=f"{report.points} of {counted(report.max_points, 'point')}",
        count=words.count(report),
        printed=() if report.failed or report.exit_code == 0 else clean.lines(report.printed),
        pointed=_pointed(report),
        streams=tuple((curve, tuple(lines.figures(curve))) for curve in report.stream),
    )


@functools.cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["number"] = curves.number
    return environment.get_template("report.html")


def _shown(value: Any) -> Any:
    """A value as the page may hold it; what a macro has written is escaped already."""
    if type(value) is not str:
        return value
    text = clean.line(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()} ..."


def _where(case: CaseResult) -> _Where:
    causes, consequences = split_findings(case.findings)
    return _Where(
        findings=tuple(
            (finding, heat.figure(finding.heat, finding.subject) if finding.heat else None) for finding in causes
        ),
        consequences=bool(consequences),
        traceback=clean.lines(case.traceback),
        printed=clean.lines(case.printed),
    )


def _pointed(report: Report) -> tuple[str, str, str] | None:
    """The line that could not be judged, in three pieces: before its column, at it, and after; a long line is cut."""
    if report.line_text is None:
        return None
    text, column = report.line_text, report.column
    if column is None:
        return clean.line(text.strip()), "", ""
    start = max(len(text) - len(text.lstrip()), column - 1 - _BEFORE_CARET)
    before, at, after = text[min(start, column - 1) : column - 1], text[column - 1 : column], text[column:]
    return clean.line(before), clean.line(at) or " ", clean.line(after)


def _colour(report: Report) -> str:
    if report.exit_code == 0:
        return "practice" if report.practice else "right"
    return {"invalid submission": "refused", "judge error": "ours"}.get(report.verdict, "wrong")
