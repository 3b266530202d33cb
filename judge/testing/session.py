"""One run of a file of tests on one implementation.

    student worker (locked: pytest, the proxy)  <-- frames -->  this process  <-- frames -->  implementation (locked)

Neither holds a pipe to the other. What comes from the student's worker is passed on as bytes, which the other side
decodes with care; what it says about its tests is believed, since it says it about itself alone and can't know what it
tests. Time, memory and ends of processes are measured here.
"""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from judge.errors import JudgeError
from judge.models import Problem
from judge.processes.supervision import Engine, Event, Worker
from judge.running import Lost, end_of, exit_of, printed_by

MOST_TESTS = 1000
_LOCK_SECONDS = 120.0  # ours: a fork, or a spawn with its import of torch
_OUTCOMES = ("passed", "failed", "skipped", "xfailed", "xpassed")
_PASSED_ON = ("type", "call", "name", "grad", "dtype", "forget", "wanted")


@dataclass(frozen=True, slots=True)
class Item:
    """A test as it was collected."""

    name: str
    sentence: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a test ended: passed, failed, skipped, xfailed or xpassed, and what it said where it failed."""

    kind: str
    message: str = ""
    line: int | None = None


@dataclass(slots=True)
class Run:
    """What came of one run, outcomes in the order in which the tests ran.

    ``lost``: it did not end by itself, during the test ``at`` if one had begun.
    """

    items: tuple[Item, ...] | None = None
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    error: Lost | None = None  # while the file was imported or its tests were collected
    lost: Lost | None = None
    at: int | None = None
    printed: dict[int, bytes] = field(default_factory=dict)
    peak_mib: float = 0.0


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
            self._end = now + self._seconds if self._end is None else self._end + waited / self._at_once
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
            self._locked(self._serving)
            begun = self._locked(self._student)
            self._end = self._budget.begin(begun, begun - started)
            self._follow(begun, until_failure)
        finally:
            self._close()
        return self._run

    def _locked(self, worker: Worker) -> float:
        event = worker.next_event(time.monotonic() + _LOCK_SECONDS)
        if event is None or event.kind != "frame" or event.header.get("type") != "locked":
            worker.settle()
            said = bytes(worker.log).decode(errors="replace").strip().splitlines()
            raise JudgeError(f"a worker could not be started{': ' + said[-1] if said else ''}; run `judge doctor`")
        self._engine.locked(event.header["level"], event.header["layers"], event.header["leaks"])
        return event.at

    def _follow(self, begun: float, until_failure: bool) -> None:
        """Take what the worker says until it is done, or until it fails where that is enough."""
        run, limits = self._run, self._problem.limits
        allowed = begun + limits.import_seconds
        while True:
            event = self._student.next_event(min(allowed, self._end))
            if event is None or event.kind != "frame":
                self._lose(self._overrun() if event is None else self._ended(event))
                return
            kind = event.header.get("type")
            if kind in ("call", "backward"):
                if not self._pass_on(event, min(allowed, self._end)):
                    return
            elif kind == "loaded" and run.items is None:
                if event.header.get("error"):
                    run.error = _import_error(event.header["error"])
                    return
            elif kind == "collected" and run.items is None:
                run.items = _items(event.header)
                if event.header.get("error"):
                    run.error = Lost("runtime error", f"collecting the tests fails: {event.header['error']}"[:2000])
                if run.error or not run.items or len(run.items) > MOST_TESTS:
                    return
            elif kind == "begin" and self._is_test(event.header):
                run.at, allowed = event.header["test"], event.at + limits.call_seconds
            elif kind == "outcome" and self._is_test(event.header):
                run.at = None
                outcome = run.outcomes[event.header["test"]] = _outcome(event.header)
                if until_failure and outcome.kind == "failed":
                    return
            elif kind == "done":
                if run.items is None or len(run.outcomes) < len(run.items):
                    self._lose(Lost("runtime error", "the tests were ended before their end"))
                return
            else:
                self._lose(Lost("runtime error", "an answer that was not asked for came"))
                return

    def _pass_on(self, event: Event, deadline: float) -> bool:
        """Send a call to the implementation and its answer back; whether there was one."""
        header = {key: event.header[key] for key in _PASSED_ON if key in event.header}
        self._serving.send(header, event.body)
        answer = self._serving.next_event(deadline)
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

    def _is_test(self, header: dict[str, Any]) -> bool:
        number = header.get("test")
        return self._run.items is not None and type(number) is int and 0 <= number < len(self._run.items)

    def _close(self) -> None:
        for worker in (self._student, self._serving):
            worker.kill()
        for worker in (self._student, self._serving):
            worker.finish()
            worker.settle()
        ended = exit_of(self._student)
        self._run.peak_mib = (ended.header.get("peak_mib") or 0.0) if ended else 0.0
        self._run.printed = printed_by(bytes(self._student.log))


def _import_error(error: Any) -> Lost:
    if not isinstance(error, dict):
        return Lost("runtime error", "the import's answer can't be read")
    line = error.get("line")
    status = "memory limit" if error.get("kind") == "memory" else "runtime error"
    message = f"importing the file raises {error.get('type')}: {error.get('message')}"[:2000]
    return Lost(status, message, _number(line), _texts(error.get("traceback")))  # type: ignore[arg-type]


def _items(header: dict[str, Any]) -> tuple[Item, ...]:
    tests = header.get("tests")
    rows = tests if isinstance(tests, list) else []
    fine = [row for row in rows if isinstance(row, list) and len(row) == 3]
    return tuple(Item(str(name)[:120], str(sentence)[:200], _number(line)) for name, sentence, line in fine)


def _outcome(header: dict[str, Any]) -> Outcome:
    kind, message = header.get("outcome"), header.get("message")
    said = message[:1000] if isinstance(message, str) else ""
    return Outcome(kind if kind in _OUTCOMES else "failed", said, _number(header.get("line")))


def _number(value: Any) -> int | None:
    return value if type(value) is int and 0 < value < 1 << 31 else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(one)[:200] for one in value[:10]) if isinstance(value, list) else ()
