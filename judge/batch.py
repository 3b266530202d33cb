"""Many submissions to one problem: a queue, and workers that keep their processes and drawn inputs at hand.

Each worker has an open problem of its own, which it draws anew after a while, so that no inputs serve a whole course.
Reports come in the order of the files, so one that is ready early waits. How far ahead of the first that is not ready
the workers may be is bounded: nothing grows with the number of files.
"""

from __future__ import annotations

import contextlib
import secrets
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from queue import SimpleQueue

from judge.environment import processors
from judge.errors import JudgeError, ProblemError, SubmissionError
from judge.models import Problem, Report
from judge.pipeline import OpenProblem, not_judged
from judge.processes.supervision import Engine
from judge.submission import read_submission
from judge.testing.judging import judge_tests

_PER_DRAW = 50
_AHEAD = 64  # submissions for each worker: enough to be busy while one of them comes to its time limit


def judge_all(
    problem: Problem, paths: Iterable[Path], engine: Engine, *, workers: int | None = None, diagnose: bool = False
) -> Iterator[Report]:
    """Judge files, ``workers`` at a time (one per processor if None); the reports come in the order of the files."""
    count = workers or processors()
    desks: SimpleQueue[_Desk] = SimpleQueue()
    made = [_Desk(problem, engine, diagnose) for _ in range(count)]
    for desk in made:
        desks.put(desk)

    def judge(path: Path) -> Report:
        desk = desks.get()
        try:
            return desk.judge(path)
        finally:
            desks.put(desk)

    waiting = iter(paths)
    with ThreadPoolExecutor(max_workers=count) as pool:
        try:
            running = deque(pool.submit(judge, path) for path in islice(waiting, count * _AHEAD))
            while running:
                report = running.popleft().result()
                running.extend(pool.submit(judge, path) for path in islice(waiting, 1))
                yield report
        except BaseException:  # nobody waits for the rest
            for desk in made:
                desk.abandon()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
            for desk in made:
                desk.clear()


class _Desk:
    """One worker's open problem."""

    def __init__(self, problem: Problem, engine: Engine, diagnose: bool):
        self._problem = problem
        self._engine = engine
        self._diagnose = diagnose
        self._opened: OpenProblem | None = None
        self._judged = 0
        self._abandoned = False

    def judge(self, path: Path) -> Report:
        try:
            submission = read_submission(path, self._problem)
            if self._problem.kind == "tests":
                return judge_tests(self._problem, submission, self._engine)
            opened = self._open()
            return opened.judge(submission, diagnose=self._diagnose, streams=False)
        except SubmissionError as exc:
            return not_judged(self._problem, path, exc)
        except (ProblemError, JudgeError) as exc:
            self.clear()  # whatever went wrong, the next one begins with processes of its own
            return not_judged(self._problem, path, exc)
        except Exception as exc:  # a mistake of ours: one file must not end the judging of all
            self.clear()
            return not_judged(self._problem, path, JudgeError(f"judging it raises {type(exc).__name__}: {exc}"))

    def abandon(self) -> None:
        """End at once what is being judged, from another thread."""
        self._abandoned = True
        if self._opened is not None:
            self._opened.abandon()

    def clear(self) -> None:
        if self._opened is not None:
            with contextlib.suppress(OSError):
                self._opened.close()
        self._opened, self._judged = None, 0

    def _open(self) -> OpenProblem:
        if self._judged >= _PER_DRAW:
            self.clear()
        if self._opened is None:
            self._opened = OpenProblem(self._problem, self._engine, seed=secrets.randbits(32))
            if self._abandoned:
                self._opened.abandon()
        self._judged += 1
        return self._opened
