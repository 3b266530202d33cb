"""Runs a submission's calls in several student workers side by side, one for each processor.

Whoever has few calls left takes the next case. All calls of a case go to one worker, so that what one of them leaves
behind is seen by the others.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from judge.running import Ran, Runner

_CALLS_FOR_ANOTHER = 40  # an empty worker's start takes as long as fifteen small calls


class Lanes:
    """One submission's way through its calls; ``new`` makes the runner of each lane, of which there are ``most``."""

    def __init__(self, new: Callable[[], Runner], most: int):
        self._runners = [new() for _ in range(most)]
        self.used = 1

    def begin(self) -> None:
        """Start the first lane's worker, which locks itself and imports the submission."""
        self._runners[0].begin(early=True)

    def run(self, order: Sequence[int], pool: bytes, calls: Mapping[int, bytes], case: Mapping[int, str]) -> Ran:
        """Run all calls in this order, or case by case on several lanes, where there are enough of them."""
        runners = self._runners[: 1 + len(order) // _CALLS_FOR_ANOTHER]
        self.used = len(runners)
        waiting = deque([order] if len(runners) == 1 else _by_case(order, case))

        def take() -> Sequence[int]:
            try:
                return waiting.popleft()
            except IndexError:
                return ()

        failed: list[BaseException] = []

        def run(runner: Runner) -> None:
            try:
                runner.run(take, pool, calls)
            except BaseException as exc:  # raised below, in the thread that asked
                failed.append(exc)
                self.abandon()

        first, *others = runners
        threads = [threading.Thread(target=run, args=(runner,)) for runner in others]
        for thread in threads:
            thread.start()
        run(first)
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]
        return _together([runner.ran for runner in runners])

    def abandon(self) -> None:
        """End the workers that run, and begin no other; from another thread."""
        for runner in self._runners:
            runner.abandon()

    def close(self) -> None:
        """End the workers that were begun and got no calls."""
        for runner in self._runners:
            runner.close()

    @property
    def over_memory(self) -> bool:
        """Whether the parent's own account says that the memory limit was passed."""
        return any(runner.over_memory for runner in self._runners)


def _by_case(order: Sequence[int], case: Mapping[int, str]) -> list[list[int]]:
    """The calls of each case together; one of no case (it measures a stream) is alone."""
    groups: dict[str | int, list[int]] = {}
    for number in order:
        groups.setdefault(case.get(number, number), []).append(number)
    return list(groups.values())


def _together(lanes: Sequence[Ran]) -> Ran:
    """What came of all lanes; what happened to the file itself is told once."""
    together = dataclasses.replace(lanes[0], lost={}, seconds={}, printed={})
    for ran in lanes:
        together.lost |= ran.lost
        together.seconds |= ran.seconds
        together.printed = ran.printed | together.printed
        together.import_lost = together.import_lost or ran.import_lost
        together.missing = together.missing or ran.missing
        together.settings = together.settings or ran.settings
        together.settings_after = together.settings_after or ran.settings_after
        together.seeded = together.seeded or ran.seeded
        together.closed = tuple(dict.fromkeys((*together.closed, *ran.closed)))
        together.peak_mib = max((one.peak_mib for one in lanes if one.peak_mib is not None), default=None)
    return together
