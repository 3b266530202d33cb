"""Tasks in forked children of this process: each child takes one after the other, so that few forks are paid for.

A child that changes PyTorch's settings hands the rest to a new one, and so does one that ends: what it was at has no
answer then.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from judge.processes import hygiene, libc

Task = Callable[[], dict[str, Any]]
Answer = tuple[int, dict[str, Any] | None]

_MOST_SECONDS = 240  # whoever asked waits 300


def side_by_side(tasks: Sequence[Task], seconds: float, at_once: int = 1) -> Iterator[Answer]:
    """The number and the answer of each task, as they are ready, ``at_once`` at a time.

    None where a task took more than ``seconds`` of processor time, or ended its process.
    """
    tickets, written = os.pipe()
    os.write(written, b"".join(number.to_bytes(4, "big") for number in range(len(tasks))))
    os.close(written)
    taken, waiting = 0, set(range(len(tasks)))
    children: dict[int, _Child] = {}
    try:
        for _ in range(at_once):
            child = _Child(tasks, tickets, seconds)
            children[child.answers] = child
        while children:
            for ready in select.select(list(children), [], [])[0]:
                child = children[ready]
                for number, answer in child.read():
                    waiting.discard(number)
                    yield number, answer
                if not child.ended:
                    continue
                del children[ready]
                taken += child.taken
                if child.taken and taken + sum(other.taken for other in children.values()) < len(tasks):
                    another = _Child(tasks, tickets, seconds)
                    children[another.answers] = another
        yield from ((number, None) for number in sorted(waiting))  # no child lived long enough to take them
    finally:
        os.close(tickets)
        for child in children.values():
            if not child.ended:
                child.end()


class _Child:
    """A child, and what it has said so far."""

    def __init__(self, tasks: Sequence[Task], tickets: int, seconds: float):
        self.answers, writing = os.pipe()
        self.taken, self.ended = 0, False
        self._at: int | None = None
        self._said = b""
        parent = os.getpid()
        self._process = os.fork()
        if self._process == 0:
            try:
                os.close(self.answers)
                libc.prctl(libc.SET_PDEATHSIG, signal.SIGKILL)  # a fork forgets it
                if os.getppid() == parent:
                    _work(tasks, tickets, writing, seconds)
            except BaseException:
                sys.excepthook(*sys.exc_info())
                sys.stderr.flush()
            finally:  # nothing of a child may ever unwind into the oracle worker's loop
                os._exit(0)
        os.close(writing)

    def read(self) -> Iterator[Answer]:
        """What it says now: answers, and at its end that there is none to what it was at."""
        data = os.read(self.answers, 1 << 16)
        *lines, self._said = (self._said + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "answer" in message:
                self._at = None
                yield message["at"], message["answer"]
            else:
                self._at = message["at"]
                self.taken += 1
        if not data:
            self.end()
            if self._at is not None:
                yield self._at, None

    def end(self) -> None:
        os.close(self.answers)
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        self.ended = True


def _work(tasks: Sequence[Task], tickets: int, writing: int, seconds: float) -> None:
    settings = hygiene.settings()
    while not hygiene.changed_settings(settings) and (ticket := os.read(tickets, 4)):
        number = int.from_bytes(ticket, "big")
        _say(writing, {"at": number})
        signal.alarm(min(_MOST_SECONDS, math.ceil(4 * seconds)))  # a task may sleep
        signal.setitimer(signal.ITIMER_PROF, seconds)
        answer = tasks[number]()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        _say(writing, {"at": number, "answer": answer})


def _say(writing: int, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(writing, data) :]
