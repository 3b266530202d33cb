"""What to look at first and what to type next, which depends on the report alone."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from judge.models import CaseResult, Finding, Report
from judge.report import clean


def root_cause(report: Report) -> CaseResult | None:
    """Choose the case to look at first: the first failing one that explains the verdict."""
    if report.verdict == "closed function used":
        return None
    explaining = [case for case in report.failed if case.status == report.verdict]
    return next(iter(explaining or report.failed), None)


def split_findings(findings: Sequence[Finding]) -> tuple[Sequence[Finding], Sequence[Finding]]:
    """What to look at, and the gradients that can't be right where values are wrong."""
    wrong_values = any(finding.facet in ("value", "shape", "structure") for finding in findings)
    consequences = [finding for finding in findings if wrong_values and finding.facet == "gradient"]
    return [finding for finding in findings if finding not in consequences], consequences


def replay(report: Report, options: str = "") -> str | None:
    """Give the command that judges the same file on the same inputs; None where none were drawn."""
    if report.seed is None:
        return None
    return f"{_again(report, options)} --seed {report.seed}"


def next_commands(report: Report, following: str | None, options: str = "") -> Iterator[tuple[str, str]]:
    """Give commands with what each is for.

    ``following`` is the problem to do after this one, ``options`` are those of the command that stay when it is
    typed again.
    """
    again = _again(report, options)
    if report.verdict == "judge error":
        yield again, "once more"
        yield "judge doctor", "what is missing here"
    elif report.verdict == "passed these cases":
        yield again, "all cases, for a verdict"
    elif report.verdict == "accepted":
        yield (f"judge show {following}", "the next problem") if following else ("judge status", "all you have done")
        if report.stream:
            yield (
                f"judge stream {report.problem}{_file_argument(report)}",
                "the stream and its gradient, deeper",
            )
    elif report.verdict in ("invalid submission", "closed function used"):
        yield f"judge show {report.problem}", "what is asked for"
        yield again, "when it is mended"
    else:
        yield f"judge hint {report.problem}", "one step at a time"
        root = root_cause(report)
        if root is not None and report.seed is not None:
            yield f"{again} --seed {report.seed} --case {root.name}", "the same inputs again"


def watched_commands(report: Report, following: str | None, *, keys: bool) -> Iterator[tuple[str, str]]:
    """Give the same while the file is watched: a save judges it, and with ``keys`` hints and streams are a key away."""
    if report.exit_code != 0:
        yield "save your file", "it is judged at once"
    instead = ("judge submit", *(("judge hint", "judge stream") if keys else ()))
    yield from (pair for pair in next_commands(report, following) if not pair[0].startswith(instead))


def is_own_file(path: Path, problem_id: str) -> bool:
    """Whether it is the file that a command means where none is named."""
    return path.parent.name == "submissions" and path.stem.replace("_", "-") == problem_id


def _again(report: Report, options: str) -> str:
    return f"judge submit {report.problem}{_file_argument(report)}{options and f' {options}'}"


def _file_argument(report: Report) -> str:
    return "" if is_own_file(Path(report.file), report.problem) else f" {shlex.quote(clean.line(report.file))}"
