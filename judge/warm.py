"""A problem that is ready to judge a file before it is saved: torch is imported, the inputs drawn, the reference run.

prepare()   an oracle worker draws fresh inputs, while the student types, and student workers begin
judge()     uses them up: the lock, the calls, the comparison
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable
from pathlib import Path

from judge import streams
from judge.errors import JudgeError, ProblemError, SubmissionError
from judge.models import Problem, Report, StreamReport, Submission
from judge.pipeline import OpenProblem, not_judged
from judge.processes.supervision import Engine
from judge.testing.judging import judge_tests


class Warm:
    """Judges one problem's submissions, one at a time, each on inputs of its own.

    ``renew`` gives an engine in the place of one that has ended, and ``told`` gets a sentence when that happens.
    All but ``abandon`` and ``close`` is called from one thread.
    """

    def __init__(self, problem: Problem, engine: Engine, renew: Callable[[], Engine], told: Callable[[str], None]):
        self.problem = problem
        self._engine = engine
        self._renew = renew
        self._told = told
        self._prepared: OpenProblem | None = None
        self._judging: OpenProblem | None = None
        self._closed = False
        self._workers = 1  # that judge side by side, as far as is known

    def prepare(self) -> None:
        """Let the inputs of the next judging be drawn and its workers begin, if they have not; takes milliseconds."""
        if self.problem.kind == "tests":  # nothing is drawn; its workers are forked for each run
            return
        with contextlib.suppress(JudgeError):  # the next judging meets it and says so
            self._prepare()
            if self.problem.kind == "code":
                self._engine.keep_ready("student", self.problem.limits.output_kib << 10, self._workers)

    def judge(self, submission: Submission, stop: threading.Event) -> Report:
        """Judge a submission; after ``abandon(stop)`` the report means nothing.

        A process of ours that has ended costs a sentence and a new engine, once.
        """
        try:
            return self._judge(submission, stop)
        except JudgeError as exc:
            if stop.is_set() or self._closed:
                return not_judged(self.problem, submission.path, exc)
            self._told(str(exc))
            self._replace_engine()
        try:
            return self._judge(submission, stop)
        except JudgeError as exc:
            self._replace_engine()
            return not_judged(self.problem, submission.path, exc)

    def abandon(self, stop: threading.Event) -> None:
        """From another thread: end the judging that was given ``stop`` at once."""
        stop.set()
        judging = self._judging
        if judging:
            judging.abandon()

    def measure(self, path: Path) -> StreamReport:
        """Measure a file's residual streams, as `judge stream` does. Raises what that raises."""
        return streams.measure(self.problem, path, self._engine)

    def close(self) -> None:
        """End every process; from another thread a judging ends, too. Again, it ends what has begun meanwhile."""
        self._closed = True
        self._engine.close()

    def _prepare(self) -> OpenProblem:
        if self._prepared is None:
            self._prepared = OpenProblem(self.problem, self._engine, seed=secrets.randbits(32))
        return self._prepared

    def _judge(self, submission: Submission, stop: threading.Event) -> Report:
        if self.problem.kind == "tests":
            try:
                return judge_tests(self.problem, submission, self._engine)
            except (SubmissionError, ProblemError) as exc:
                return not_judged(self.problem, submission.path, exc)
        with contextlib.closing(self._prepare()) as opened:
            self._prepared, self._judging = None, opened
            try:
                if stop.is_set():
                    opened.abandon()
                report = opened.report(submission)
                self._workers = opened.lanes_used
                return report
            except (SubmissionError, ProblemError) as exc:
                return not_judged(self.problem, submission.path, exc, seed=opened.seed)
            finally:
                self._judging = None

    def _replace_engine(self) -> None:
        self._engine.close()
        self._engine, self._prepared = self._renew(), None
