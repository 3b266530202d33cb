"""The screens of `judge watch`: the verdict, what has changed since the last one, and the keys.

On a terminal each verdict has the screen to itself; elsewhere one report follows the other as plain text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.control import Control
from rich.text import Text

from judge.feedback import Feedback, shown
from judge.models import CaseResult, Problem
from judge.report import clean, steps, terminal
from judge.report.blocks import Commands
from judge.report.stream import StreamPage
from judge.watch import STREAM
from judge.watch_events import Event, Judged, Judging, Measured, Pressed, Restarted, Waiting

HINT, VERBOSE = "h", "v"
_NAMES = 6


def changes(judged: Judged) -> str:
    """Say in words what changed since the verdict before; nothing if there was none."""
    report, before = judged.report, judged.before
    if before is None:
        return ""
    parts = [] if before.verdict == report.verdict else [f"before: {before.verdict}"]
    if report.cases and judged.cases_before:
        parts += _case_changes(report.cases, judged.cases_before)
    return "; ".join(parts) or ("no case has changed" if report.cases else "nothing has changed")


def _case_changes(cases: Sequence[CaseResult], cases_before: Sequence[CaseResult]) -> Iterator[str]:
    was = {case.name: _kind(case) for case in cases_before}
    moved = {
        "fixed": [("failed", "passed"), ("held back", "passed")],
        "newly broken": [("passed", "failed")],
        "no longer reached": [("passed", "not reached"), ("passed", "held back")],
    }
    for word, ways in moved.items():
        names = [case.name for case in cases if (was.get(case.name), _kind(case)) in ways]
        if names:
            more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
            yield f"{word}: {', '.join(names[:_NAMES])}{more}"


def _kind(case: CaseResult) -> str:
    """What became of a case; one that waits for another one's mending is held back."""
    if case.after is not None:
        return "held back"
    return case.status if case.status in ("passed", "not reached") else "failed"


class Screen:
    """What is shown at each event; ``keys``: on a terminal that has them, each verdict on a screen of its own."""

    def __init__(self, problem: Problem, level: Feedback, *, verbose: bool, following: str | None, keys: bool):
        self._problem = problem
        self._level = level
        self._verbose = verbose
        self._following = following
        self._keys = keys
        self._judged: Judged | None = None
        self._at = ""
        self._restarted: list[Text] = []

    def greeting(self) -> RenderableType:
        """Give what is shown before anything happens."""
        how = self._key_line() if self._keys else "Ctrl-C ends it; keys work on a POSIX terminal only"
        return Text(f"watching {self._problem.id}; {how}", "dim")

    def show(self, event: Event) -> RenderableType | None:
        """Give what is to be shown, if anything is."""
        if isinstance(event, Judged):
            self._judged, self._at = event, f"{datetime.now():%H:%M:%S}"
            restarted, self._restarted = self._restarted, []
            return self._verdict(event, *restarted)
        if isinstance(event, Judging):
            return Text(f"judging {clean.line(str(event.path))}", "dim") if self._keys else None
        if isinstance(event, Waiting):
            waiting = Text(self._waiting(event), no_wrap=True, overflow="ignore")  # it ends in a command to copy
            return Group(waiting)  # of a text alone, rich would forget that
        if isinstance(event, Restarted):
            said = f"{clean.line(event.message)}\na new one is started, and your file judged again"
            self._restarted = [Text(said, "yellow"), Text()] if self._keys else []  # the verdict will clear the screen
            return Text(said, "yellow")
        if isinstance(event, Measured):
            return self.page(StreamPage(event.report) if event.report else Text(clean.line(event.message)))
        if event == Pressed(STREAM):
            return Text("measuring the residual stream", "dim")
        if event == Pressed(VERBOSE) and self._judged:
            self._verbose = not self._verbose
            return self._verdict(self._judged)
        return None

    def page(self, content: RenderableType) -> RenderableType:
        """Give something else that was asked for, with the keys again, as they have moved up."""
        return Group(Text(), content, Text(), Text(self._key_line(), "dim")) if self._keys else content

    def _verdict(self, judged: Judged, *notices: Text) -> RenderableType:
        report = shown(judged.report, self._level)
        commands = steps.watched_commands(report, self._following, keys=self._keys)
        verdict = terminal.Screen(report, self._verbose, Commands(tuple(commands)))
        changed = Text.assemble((self._at, "dim"), "  ", (changes(judged), "bold"))
        changed.rstrip()
        if not self._keys:
            return Group(verdict, Text(), changed, Text())
        below = Text(), changed, Text(self._key_line(), "dim")
        return Group(Control.home(), Control.clear(), *notices, verdict, *below)

    def _key_line(self) -> str:
        stream = "   s stream" if self._problem.stream else ""
        return f"h hint{stream}   r run again   v {'less' if self._verbose else 'every case'}   q quit"

    def _waiting(self, event: Waiting) -> str:
        path = clean.line(str(event.path))
        if event.gone:
            return f"waiting for {path} to come back"
        stub = f"; judge start {self._problem.id} writes a stub to begin with"
        return f"waiting for {path}{stub if steps.is_own_file(event.path, self._problem.id) else ''}"
