"""`judge watch`: judges a file at each save, and gives what happens as events. Knows no terminal.

    the folder ──changed──┐                             ┌─> Waiting     the file is not there
    a key ──────press─────┼─> one inbox, one loop ──────┼─> Judging, then Judged
    the judging thread ───┘                             └─> Restarted, Measured, Pressed

A save while another is judged ends that judging: the latest content wins. The same content is not judged again.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from judge.errors import Error, SubmissionError, UsageError
from judge.models import CaseResult, Problem, Report, Submission
from judge.pipeline import not_judged
from judge.processes.supervision import Engine
from judge.saves import Saves
from judge.submission import read_submission
from judge.warm import Warm
from judge.watch_events import Event, Judged, Judging, Measured, Pressed, Restarted, Waiting

AGAIN, STREAM, QUIT = "r", "s", "q"
_SETTLED_SECONDS = 0.15  # a file that can't be judged may be half written: a look at it again decides
_WAKE_SECONDS = 0.5  # on Windows Ctrl-C does not end a wait


@dataclass(frozen=True, slots=True)
class _Found:
    """What a look at the file found; ``what`` tells two contents apart, also where nothing can be judged."""

    path: Path
    what: bytes | str
    submission: Submission | None = None
    error: Error | None = None


_Message = Restarted | Pressed | Future[Report] | Future[Measured] | None


class Watch:
    """Watches the file that ``find`` names; ``renew`` gives an engine in the place of one that has ended."""

    def __init__(self, problem: Problem, engine: Engine, renew: Callable[[], Engine], find: Callable[[], Path]):
        self._problem = problem
        self._find = find
        self._inbox: queue.Queue[_Message] = queue.Queue()
        self._warm = Warm(problem, engine, renew, lambda message: self._inbox.put(Restarted(message)))
        self._thread = ThreadPoolExecutor(1)
        self._found: _Found | None = None
        self._unsettled: _Found | None = None
        self._settled_at: float | None = None
        self._pending: Future[Report] | None = None
        self._measuring: Future[Measured] | None = None
        self._stop = threading.Event()
        self._before: Report | None = None
        self._cases_before: tuple[CaseResult, ...] = ()

    def press(self, key: str) -> None:
        """Tell of a key; from any thread."""
        self._inbox.put(Pressed(key))

    def events(self) -> Generator[Event, None, None]:
        """Watch until ``q`` is pressed; ends every process, however it is left."""
        try:
            self._thread.submit(self._warm.prepare)
            saves = Saves(self._find, lambda: self._inbox.put(None))
            try:
                yield from self._look()
                while (message := self._next()) != Pressed(QUIT):
                    yield from self._answer(message)
            finally:
                saves.close()
        finally:
            self._close()

    def _close(self) -> None:
        self._abandon()
        self._warm.close()  # whatever the judging thread does meets it and ends
        self._thread.shutdown(cancel_futures=True)
        self._warm.close()

    def _next(self) -> _Message:
        """The next message; None is a change beside the file, or the time to look at it again."""
        while self._settled_at is None or time.monotonic() < self._settled_at:
            wait = _WAKE_SECONDS if self._settled_at is None else self._settled_at - time.monotonic()
            with contextlib.suppress(queue.Empty):
                return self._inbox.get(timeout=max(0.0, wait))
        return None

    def _answer(self, message: _Message) -> Iterator[Event]:
        if message is None:
            yield from self._look()
        elif isinstance(message, Future):
            yield from self._take(message)
        elif message == Pressed(AGAIN):
            self._found = None
            yield from self._look()
        elif message == Pressed(STREAM):
            self._measuring = self._thread.submit(self._measure)
            self._measuring.add_done_callback(self._inbox.put)
            yield message
        else:
            yield message

    def _take(self, done: Future[Report] | Future[Measured]) -> Iterator[Event]:
        """What came of a job; of one that was abandoned nothing is wanted."""
        yield from self._look()  # the file may be another by now
        if self._pending is done:
            report, self._pending = self._pending.result(), None
            yield self._judged(report)
        elif self._measuring is done:
            measured, self._measuring = self._measuring.result(), None
            yield measured

    def _look(self) -> Iterator[Event]:
        found = _read(self._find(), self._problem)
        if self._found and found.what == self._found.what:
            self._unsettled = self._settled_at = None
            return
        if found.submission is None and not self._settled(found):
            return
        self._unsettled = self._settled_at = None
        self._abandon()
        gone, self._found = self._found is not None, found
        if found.submission is not None:
            self._begin(found.submission)
            yield Judging(found.path)
        elif isinstance(found.error, UsageError):
            yield Waiting(found.path, gone)
        elif found.error is not None:
            yield self._judged(not_judged(self._problem, found.path, found.error))

    def _settled(self, found: _Found) -> bool:
        """Whether a file that can't be judged has been as it is for a while."""
        if self._unsettled is None or self._unsettled.what != found.what:
            self._unsettled, self._settled_at = found, time.monotonic() + _SETTLED_SECONDS
        return self._settled_at is not None and time.monotonic() >= self._settled_at

    def _begin(self, submission: Submission) -> None:
        self._stop = threading.Event()
        self._pending = self._thread.submit(self._warm.judge, submission, self._stop)
        self._pending.add_done_callback(self._inbox.put)
        self._thread.submit(self._warm.prepare)

    def _abandon(self) -> None:
        if self._pending is not None and not self._pending.cancel():
            self._warm.abandon(self._stop)
        self._pending = None

    def _judged(self, report: Report) -> Judged:
        judged = Judged(report, self._before, self._cases_before)
        if report.verdict != "judge error":
            self._before, self._cases_before = report, report.cases or self._cases_before
        return judged

    def _measure(self) -> Measured:
        """In the judging thread, as the engine is its own."""
        try:
            return Measured(self._warm.measure(self._find()))
        except Error as exc:
            return Measured(None, str(exc))


def _read(path: Path, problem: Problem) -> _Found:
    try:
        submission = read_submission(path, problem)
        return _Found(path, submission.source, submission=submission)
    except UsageError as exc:
        return _Found(path, "no file", error=exc)
    except SubmissionError as exc:
        return _Found(path, exc.source if exc.source is not None else str(exc), error=exc)
