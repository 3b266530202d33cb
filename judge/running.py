"""Runs a submission's calls in a student worker, under limits that this process measures; lanes.py runs several.

A call that overruns, crashes or leaves no answer costs that call, and a new worker takes the rest; after two calls
lost for the same reason the rest are not reached. Nothing that a worker says about time or memory counts.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge.models import Limits
from judge.processes import leftovers
from judge.processes.supervision import Engine, Event, Worker
from judge.worker_events import (
    LOADING,
    Lost,
    LostStatus,
    Patience,
    end_of,
    exit_of,
    locked,
    next_in_turn,
    printed_by,
)

_MOST_OF_A_KIND = 2
_AHEAD = 3  # calls that a worker has at hand, so that it never waits for the next one
_MOST_ANSWERED = 1 << 28  # bytes of all answers together: they wait here for the comparison
_MOST_CLOSED = 50
_MOST_SAID = 2000  # characters that a worker's report on the import may show
_OWN_MIB = 512  # what an interpreter with torch takes before a submission's first line

# Modules of torch that it imports lazily, for more than a second, by a word that announces them.
HEAVY = dict.fromkeys(("checkpoint", "optim", "custom_op", "dynamo"), "torch._dynamo")


@dataclass(slots=True)
class Ran:
    """What came of all calls, besides the observations, which went to the oracle worker as they came."""

    import_lost: Lost | None = None
    missing: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    seeded: bool = False
    import_seconds: float | None = None
    lost: dict[int, Lost] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)
    printed: dict[int, bytes] = field(default_factory=dict)
    closed: tuple[tuple[str, int | None], ...] = ()
    settings_after: tuple[str, ...] = ()  # changed by some call, and seen when all were done
    peak_mib: float | None = None


class Runner:
    """One submission's way through its calls. ``observed`` gets each call's number and the body of its frame."""

    def __init__(self, engine: Engine, limits: Limits, setup: dict[str, Any], observed: Callable[[int, bytes], None]):
        self._engine = engine
        self._limits = limits
        self._observed = observed
        self._pool = b""
        self._calls: Mapping[int, bytes] = {}
        self._take: Callable[[], Sequence[int]] = tuple
        self._begun: Worker | None = None
        self._running: Worker | None = None
        self._abandoned = False
        self._deadline = 0.0  # of all calls, once they begin (monotonic seconds)
        self._given = 0.0  # when the calls were handed over, and when the first one began
        self._ready = 0.0
        self._setup = setup | {
            "type": "setup",
            "lock": engine.lock_plan,
            "preload": [module for word, module in HEAVY.items() if word in setup["source"]],
            "memory_mib": limits.memory_mib,
            "cpu_seconds": limits.submission_seconds,
        }
        self._reasons: Counter[str] = Counter()
        self._answered = 0
        self._last: int | None = None  # the call that was answered last
        self._scratch: str | None = None
        self.ran = Ran()

    def begin(self, *, early: bool = False) -> None:
        """Start a worker, which locks itself and imports the submission: nothing of that needs the inputs.

        ``early``: they are still being drawn, so a forked worker goes through the harness meanwhile.
        """
        self._begun = self._engine.worker("student", self._limits.output_kib << 10)
        setup = self._setup | {"seed": secrets.randbits(32), "rehearse": early and self._engine.forks}
        if self._limits.scratch_mib:
            self._scratch = self._engine.scratch()
            setup["lock"] = setup["lock"] | {"scratch": self._scratch, "scratch_mib": self._limits.scratch_mib}
        self._begun.send(setup)

    def abandon(self) -> None:
        """End the worker that runs, and begin no other; from another thread."""
        self._abandoned = True
        if self._running:
            self._running.kill()

    def close(self) -> None:
        """End a worker that was begun and got no calls."""
        if self._begun:
            self._begun.kill()
            self._end(self._begun)
            self._begun = None

    def run(self, take: Callable[[], Sequence[int]], pool: bytes, calls: Mapping[int, bytes]) -> Ran:
        """Run the calls that ``take`` gives, some whenever there are few left, until it gives none."""
        self._take, self._pool, self._calls = take, pool, calls
        remaining = list(take())
        while remaining and not (self.ran.import_lost or self.ran.missing or self._abandoned):
            if self._begun is None:
                self.begin()
            assert self._begun
            worker, self._begun = self._begun, None
            self._running = worker
            try:
                if self._abandoned:  # just now, before there was anything to end
                    worker.kill()
                now = self._start(worker, remaining)
                self._patience = Patience(self._limits.submission_seconds, worker)
                self._deadline = self._deadline or max(now, self._given) + self._limits.submission_seconds
                if self._load(worker, now):
                    remaining = self._run_calls(worker, remaining)
            finally:
                self._end(worker)
            if time.monotonic() > self._deadline or self._reasons and max(self._reasons.values()) >= _MOST_OF_A_KIND:
                break
            remaining = remaining or list(take())
        return self.ran

    def _start(self, worker: Worker, remaining: Sequence[int]) -> float:
        self._given = time.monotonic()  # drawing the inputs is not the submission's time
        worker.send({"type": "pool"}, self._pool)
        self._send(worker, remaining)
        return locked(self._engine, worker)

    def _send(self, worker: Worker, numbers: Sequence[int]) -> None:
        for number in numbers:
            worker.send({"type": "call", "call": number}, self._calls[number])

    def _load(self, worker: Worker, now: float) -> bool:
        """Wait for the import; whether the submission can be called."""
        seconds = self._limits.import_seconds
        event = self._next(worker, LOADING, now + seconds)
        if event is None or event.at > now + seconds + self._patience.waited():
            self.ran.import_lost = Lost("time limit", f"the file was not imported after {seconds:g} s")
        elif event.kind != "frame":
            self.ran.import_lost = end_of(worker, event, "while it was imported", self._limits.output_kib)
        elif not self._loaded(event):
            self.ran.import_lost = Lost("runtime error", "the import's answer can't be read")
        self.ran.import_seconds = None if event is None else event.at - now
        self._ready = max(now if event is None else event.at, self._given)
        return not (self.ran.import_lost or self.ran.missing)

    def _loaded(self, event: Event) -> bool:
        header = event.header
        error, missing, settings = header.get("error"), header.get("missing"), header.get("settings")
        if header.get("type") != "loaded" or not (_texts(missing) and _texts(settings)):
            return False
        self.ran.missing = () if error else tuple(name for name in self._setup["names"] if name in (missing or ()))
        self.ran.settings = tuple(name[:40] for name in settings or ())[:10]
        self.ran.seeded = header.get("seeded") is True
        if isinstance(error, dict):
            if not _texts([error.get("type"), error.get("message")]):
                return False
            status: LostStatus = "memory limit" if error.get("kind") == "memory" else "runtime error"
            line, frames = error.get("line"), error.get("traceback")
            message = f"importing the file raises {error.get('type')}: {error.get('message')}"[:_MOST_SAID]
            self.ran.import_lost = Lost(
                status,
                message,
                line if type(line) is int and 0 < line < 1 << 31 else None,
                tuple(frame[:200] for frame in frames or ())[:10] if _texts(frames) else (),
            )
        return True

    def _next(self, worker: Worker, awaited: int, due: float) -> Event | None:
        """The next event until it is due or all calls are."""
        while True:
            event = next_in_turn(worker, awaited, min(due, self._deadline))
            more = self._patience.more() if event is None else 0.0
            if not more:
                return event
            due += more
            self._deadline += more

    def _run_calls(self, worker: Worker, remaining: list[int]) -> list[int]:
        """Take answers until one is missing; gives the calls that are left for another worker."""
        before, ended = self._ready, False
        while True:
            while not ended and len(remaining) < _AHEAD:
                more = self._take()
                self._send(worker, more)
                remaining = [*remaining, *more]
                if not more:
                    worker.send({"type": "end"})
                    ended = True
            if not remaining:
                break
            number, *rest = remaining
            event = self._next(worker, number, before + self._limits.call_seconds)
            if event and event.kind == "frame" and event.header == {"type": "observation", "call": number}:
                self._answered += len(event.body)
                if self._answered > _MOST_ANSWERED:
                    message = f"all results together have more than {_MOST_ANSWERED >> 20} MiB"
                    self.ran.lost |= dict.fromkeys(remaining, Lost("output limit", message))
                    self._reasons["output limit"] = _MOST_OF_A_KIND
                    return []
                self.ran.seconds[number], self._last = event.at - before, number
                self._observed(number, event.body)
                before, remaining = event.at, rest
                continue
            lost = (
                self._overrun() if event is None else end_of(worker, event, "during the call", self._limits.output_kib)
            )
            self.ran.lost[number] = lost
            self._reasons[lost.status] += 1
            return rest
        self._take_last(worker)
        return []

    def _overrun(self) -> Lost:
        if time.monotonic() >= self._deadline:
            return Lost("time limit", f"all calls together took more than {self._limits.submission_seconds:g} s")
        return Lost("time limit", f"no answer after {self._limits.call_seconds:g} s")

    def _take_last(self, worker: Worker) -> None:
        """What was seen during all calls: who ends before saying it hides it, and loses the last call."""
        event = worker.next_event(time.monotonic() + self._limits.call_seconds)
        if event is None or event.kind != "frame" or event.header.get("type") != "done":
            said = end_of(worker, event, "after the last call", self._limits.output_kib) if event else None
            if self._last is not None:
                self.ran.lost[self._last] = said or Lost("time limit", "no end after the last call")
            return
        settings, seen = event.header.get("settings"), event.header.get("closed")
        self.ran.settings_after = tuple(name[:40] for name in settings or ())[:10] if _texts(settings) else ()
        if isinstance(seen, list):
            pairs = [pair for pair in seen if isinstance(pair, list) and len(pair) == 2]
            lines = 1 + sum(map(self._setup["source"].count, "\r\n"))
            known = {part for name in self._setup["closed"] for part in (name, name.partition("(")[0])}
            self.ran.closed = tuple(
                (name, line if type(line) is int and 0 < line <= lines else None)
                for name, line in pairs[:_MOST_CLOSED]
                if isinstance(name, str) and name in known
            )

    def _end(self, worker: Worker) -> None:
        """End the worker, take its accounts and what it printed."""
        worker.finish()
        left = [event.kind for event in list(worker.events.queue)]
        finished = worker.ended is not None or "exit" in left or "end of answers" in left
        if not finished and (self.ran.lost or self.ran.import_lost):
            worker.kill()
        ended = exit_of(worker)
        if ended is None:
            worker.kill()
            ended = exit_of(worker)
        worker.settle()
        if worker.flooded and self._last is not None and not (self.ran.lost or self.ran.import_lost):
            self.ran.lost[self._last] = end_of(worker, Event("flood", 0.0), "", self._limits.output_kib)
        if self._scratch:
            leftovers.remove(self._scratch)
        peak = ended.header.get("peak_mib") if ended else None
        if peak is not None:
            self.ran.peak_mib = max(peak, self.ran.peak_mib or 0.0)
        for number, text in printed_by(bytes(worker.log)).items():
            self.ran.printed.setdefault(number, text)

    @property
    def over_memory(self) -> bool:
        """Whether the parent's own account says that the memory limit was passed."""
        return (self.ran.peak_mib or 0.0) > self._limits.memory_mib + _OWN_MIB


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
