"""One run of a file of tests on one implementation.

    student worker (locked: pytest, the proxy)  <-- frames -->  this process  <-- frames -->  implementation (locked)

Neither holds a pipe to the other. What comes from the student's worker is passed on as bytes, which the other side
decodes with care; what it says about its tests is believed, since it says it about itself alone and can't know what it
tests. Time, memory and ends of processes are measured here.
"""

from __future__ import annotations

import functools
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

from judge.models import Problem
from judge.processes.supervision import Engine, Event
from judge.testing.said import Run, collection_error, import_error, items, outcome, plain
from judge.worker_events import LOADING, Lost, Patience, end_of, exit_of, locked, next_in_turn, printed_by

MOST_TESTS = 1000


class Budget:
    """The time for all runs together, from the moment when the first worker is ready.

    ``at_once`` runs go on at a time, and what all of them wait for new processes does not count.
    """

    def __init__(self, seconds: float, at_once: int = 1):
        self._seconds = seconds
        self._at_once = at_once
        self._end: float | None = None
        self._guard = threading.Lock()

    def begin(self, now: float, waited: float) -> float:
        """Start counting, if nobody has, or stop for what a run has waited; gives the moment when it all ends."""
        with self._guard:
            if self._end is None:
                self._end = now + self._seconds
                return self._end
        return self.extend(waited)

    def extend(self, waited: float) -> float:
        """Stop counting for what a run has waited; gives the moment when it all ends."""
        with self._guard:
            assert self._end is not None
            self._end += waited / self._at_once
            return self._end

    @property
    def over(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end


class Session:
    """A pair of workers; ``run`` is called once."""

    def __init__(self, problem: Problem, engine: Engine, source: str, budget: Budget):
        self._problem, self._engine, self._source, self._budget = problem, engine, source, budget
        self._run = Run()

    def run(
        self, implementation: str, *, until_failure: bool, backwards: bool = False, turn: tuple[int, int] = (0, 1)
    ) -> Run:
        """Run the tests on an implementation's source, in the order that pytest_session.run says, to the end or until
        one fails."""
        limits = self._problem.limits
        self._student = self._engine.worker("tests", limits.output_kib << 10)
        self._serving = self._engine.worker("implementation")
        names = [entry.name for entry in self._problem.entry_points]
        setup = {"type": "setup", "names": names, "lock": self._engine.lock_plan, "memory_mib": limits.memory_mib}
        setup["cpu_seconds"] = limits.submission_seconds
        started = time.monotonic()
        try:
            told = {"source": self._source, "alone": len(names) == 1, "seed": secrets.randbits(32)}
            self._student.send(setup | told | {"backwards": backwards, "turn": turn})
            self._serving.send(setup | {"source": implementation})
            locked(self._engine, self._serving)
            begun = locked(self._engine, self._student)
            self._end = self._budget.begin(begun, begun - started)
            self._allowed = begun + limits.import_seconds
            self._patience = Patience(limits.submission_seconds, self._student, self._serving)
            self._follow(until_failure)
        finally:
            self._close()
        return self._run

    def _patiently(self, take: Callable[[float], Event | None]) -> Event | None:
        """What ``take`` gives until it is due."""
        while True:
            event = take(min(self._allowed, self._end))
            more = self._patience.more() if event is None else 0.0
            if not more:
                return event
            self._allowed += more
            self._end = self._budget.extend(more)

    def _follow(self, until_failure: bool) -> None:
        """Take what the worker says until it is done, or until it fails where that is enough."""
        run, limits = self._run, self._problem.limits
        while True:
            awaited = LOADING if run.items is None else run.at
            turn = functools.partial(next_in_turn, self._student, awaited, answered=run.outcomes)
            event = self._patiently(turn)
            if event is None or event.kind != "frame":
                self._lose(self._overrun() if event is None else self._ended(event))
                return
            kind = event.header.get("type")
            if kind in ("call", "backward"):
                if not self._pass_on(event):
                    return
            elif kind == "loaded" and run.items is None:
                run.error = import_error(event.header)
                if run.error:
                    return
            elif kind == "collected" and run.items is None:
                run.items, run.error = items(event.header), collection_error(event.header)
                if run.error or not run.items or len(run.items) > MOST_TESTS:
                    return
            elif kind == "begin" and run.at is None and self._is_open(event.header):
                run.at, self._allowed = event.header["test"], event.at + limits.call_seconds
            elif kind == "outcome" and run.at is not None and event.header.get("test") == run.at:
                run.at = None
                ended = run.outcomes[event.header["test"]] = outcome(event.header)
                if until_failure and ended.kind == "failed":
                    return
            elif kind == "done":
                if run.items is None or len(run.outcomes) < len(run.items):
                    self._lose(Lost("runtime error", "the tests were ended before their end"))
                return
            else:
                self._lose(Lost("runtime error", "an answer that was not asked for came"))
                return

    def _pass_on(self, event: Event) -> bool:
        """Send a call to the implementation and its answer back; whether there was one."""
        self._serving.send(plain(event.header), event.body)
        answer = self._patiently(self._serving.next_event)
        if answer is not None and answer.kind == "frame":
            self._student.send({"type": "answer"}, answer.body)
            return True
        self._lose(self._overrun() if answer is None else Lost("runtime error", "a call ended the implementation"))
        return False

    def _lose(self, lost: Lost) -> None:
        if self._run.items is None:
            self._run.error = lost
        else:
            self._run.lost = lost

    def _overrun(self) -> Lost:
        limits = self._problem.limits
        if time.monotonic() >= self._end:
            return Lost("time limit", f"all implementations together took more than {limits.submission_seconds:g} s")
        if self._run.items is None:
            return Lost("time limit", f"the file was not imported after {limits.import_seconds:g} s")
        return Lost("time limit", f"no end after {limits.call_seconds:g} s")

    def _ended(self, event: Event) -> Lost:
        when = "while it was imported" if self._run.items is None else "during a test"
        return end_of(self._student, event, when, self._problem.limits.output_kib)

    def _is_open(self, header: dict[str, Any]) -> bool:
        """Whether it names a test without an outcome: a second one could say another thing than the first."""
        run, number = self._run, header.get("test")
        if run.items is None or type(number) is not int:
            return False
        return 0 <= number < len(run.items) and number not in run.outcomes

    def _close(self) -> None:
        for worker in (self._student, self._serving):
            worker.kill()
        for worker in (self._student, self._serving):
            worker.finish()
            worker.settle()
        if self._student.flooded and not (self._run.error or self._run.lost):
            self._lose(self._ended(Event("flood", 0.0)))
        ended = exit_of(self._student)
        self._run.peak_mib = (ended.header.get("peak_mib") or 0.0) if ended else 0.0
        self._run.printed = printed_by(bytes(self._student.log))
