"""What happens while a file is watched; watch.py gives these, report/watch.py says what each looks like."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from judge.models import CaseResult, Report, StreamReport


@dataclass(frozen=True, slots=True)
class Waiting:
    """There is no file; ``gone``: there was one."""

    path: Path
    gone: bool


@dataclass(frozen=True, slots=True)
class Judging:
    """A file is being judged."""

    path: Path


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, with the one before, and the cases of the last that had any."""

    report: Report
    before: Report | None
    cases_before: tuple[CaseResult, ...]

    @property
    def again(self) -> bool:
        """Whether the same content got the same verdict: no new attempt."""
        before = self.before
        return before is not None and (before.source, before.verdict) == (self.report.source, self.report.verdict)


@dataclass(frozen=True, slots=True)
class Restarted:
    """A process of the judge has ended, and a new one takes its place; the submission is judged all the same."""

    message: str


@dataclass(frozen=True, slots=True)
class Measured:
    """The residual stream that was asked for, or why there is none."""

    report: StreamReport | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Pressed:
    """A key."""

    key: str


Event = Waiting | Judging | Judged | Restarted | Measured | Pressed
