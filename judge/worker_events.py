"""What a worker's events mean: that it is locked, what came next, how it ended, what it printed; how long it may take.

Answers, output and exit come through different pipes, so that later ones may overtake earlier ones; here they are put
in their order again.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Container
from dataclasses import dataclass
from typing import Literal

from judge.errors import JudgeError
from judge.processes.supervision import Engine, Event, Worker

LOADING = -1
_LOCK_SECONDS = 120.0  # ours: a fork, or a spawn with its import of torch
_EXIT_SECONDS = 2.0
_OVERTAKEN_SECONDS = 2.0
_MOST_TIMES = 9  # the limit
_WORTH_WAITING = 0.05

LostStatus = Literal["time limit", "memory limit", "output limit", "runtime error"]


@dataclass(frozen=True, slots=True)
class Lost:
    """A call (or the import) without an answer."""

    status: LostStatus
    message: str
    line: int | None = None
    traceback: tuple[str, ...] = ()


class Patience:
    """What workers wait for a processor that others have is not their time: limits move by it, but not for ever."""

    def __init__(self, limit: float, *workers: Worker):
        self._workers, self._most, self._given = workers, _MOST_TIMES * limit, 0.0

    def waited(self) -> float:
        """Seconds that they have waited in all."""
        return min(self._most, sum(worker.waited() for worker in self._workers))

    def more(self) -> float:
        """Seconds that they have waited since this was asked last; next to nothing is none."""
        more = self.waited() - self._given
        if more < _WORTH_WAITING:
            return 0.0
        self._given += more
        return more


def locked(engine: Engine, worker: Worker) -> float:
    """Wait until the worker is locked and tell the engine of it; gives the moment (monotonic seconds).

    Raises JudgeError where it does not start, or where its lock is not what it should be.
    """
    event = _before_floods(worker, worker.next_event(time.monotonic() + _LOCK_SECONDS), _LOCK_SECONDS)
    if event is None or event.kind != "frame" or event.header.get("type") != "locked":
        worker.settle()
        said = bytes(worker.log).decode(errors="replace").strip().splitlines()
        raise JudgeError(f"a worker could not be started{': ' + said[-1] if said else ''}; run `judge doctor`")
    engine.locked(event.header["level"], event.header["layers"], event.header["leaks"])
    return event.at


def next_in_turn(worker: Worker, awaited: int | None, deadline: float, answered: Container[int] = ()) -> Event | None:
    """The next event until the deadline (monotonic seconds), while the answer to ``awaited`` is waited for.

    Too much output of a later call may be read before that answer: then the answer is given, and the output after it.
    None for ``awaited``: that of the next call which has no answer among ``answered``.
    """
    event = worker.next_event(deadline)
    if event is None or event.kind != "flood":
        return event
    marks = printed_by(bytes(worker.log))
    last = next(reversed(marks), awaited)
    later = last not in answered if awaited is None else awaited in marks and last != awaited
    return _before_floods(worker, event, _OVERTAKEN_SECONDS) if later else event


def _before_floods(worker: Worker, event: Event | None, seconds: float) -> Event | None:
    """The frame that a flood has overtaken, with the flood put behind it; the event itself, where there is none."""
    if event is None or event.kind != "flood":
        return event
    later = worker.next_event(time.monotonic() + seconds)
    if later is None:
        return event
    if later.kind != "frame":
        worker.events.put(later)
        return event
    worker.events.put(event)
    return later


def end_of(worker: Worker, event: Event, when: str, output_kib: int) -> Lost:
    """What became of a worker that gave this event instead of an answer."""
    if event.kind == "flood":
        return Lost("output limit", f"more than {output_kib} KiB were printed")
    if event.kind == "unreadable":
        return Lost("runtime error", f"{event.header['message']} ({when})")
    if event.kind == "frame":
        return Lost("runtime error", f"an answer that was not asked for came {when}")
    ended = exit_of(worker)
    if ended is None:
        return Lost("runtime error", f"the process closed its answers {when}")
    if ended.header.get("lost"):
        raise JudgeError(ended.header["lost"])
    number = ended.header.get("signal")
    if number == signal.SIGXCPU if hasattr(signal, "SIGXCPU") else False:
        return Lost("time limit", f"the processor time was used up {when}")
    if number:
        return Lost("runtime error", f"the process was ended by signal {number} ({_signal_name(number)}) {when}")
    return Lost("runtime error", f"the process ended with exit code {ended.header.get('exit')} and no answer {when}")


def exit_of(worker: Worker) -> Event | None:
    """The worker's exit, if it has come or comes soon; events before it are passed over."""
    deadline = time.monotonic() + _EXIT_SECONDS
    while worker.ended is None and worker.next_event(deadline) is not None:
        pass
    return worker.ended


def printed_by(log: bytes) -> dict[int, bytes]:
    """What was printed, by call: before each call the worker writes its number between two NUL bytes."""
    parts = log.split(b"\0")
    found: dict[int, bytes] = {}
    for number, text in zip(parts[1::2], parts[2::2], strict=False):
        with contextlib.suppress(ValueError):
            found[int(number)] = text
    return found


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
