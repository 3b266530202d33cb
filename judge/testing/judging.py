"""Judges a file of tests: twice on each correct implementation, once on each mutant, each time in fresh processes.

The order of all these runs is drawn anew each time and the workers are told nothing, so that a file can't know what it
is run on but by what its calls give. The runs on correct implementations go through the tests in both directions, and
each begins at another one; one on a mutant is like one of these, drawn at random, up to a failure.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from judge.counted import counted
from judge.environment import environment
from judge.errors import SubmissionError
from judge.models import CaseResult, Environment, Problem, Report, Submission, Thoroughness, Verdict
from judge.processes.supervision import Engine
from judge.running import HEAVY
from judge.testing.implementations import Implementation, load_implementations
from judge.testing.said import Item, Run
from judge.testing.session import MOST_TESTS, Budget, Session
from judge.testing.thoroughness import measure
from judge.testing.validity import Twice, judge_test
from judge.worker_events import LOADING, Lost

# What is imported late and takes longer than a run, by a word that announces it; the last where autograd is handed a
# gradient, as for each backward here.
_HEAVY = HEAVY | {
    "assert_close": "torch.distributed.tensor",
    "gradcheck": "torch.distributed.tensor",
    "grad": "torch.fx.experimental.symbolic_shapes",
    "backward": "torch.fx.experimental.symbolic_shapes",
}
_PRINTED_LINES = 20
_MOST_HANGS = 2  # after so many runs that did not end the others are not begun
_AT_ONCE = 3  # two processes each, one of which waits for the other

Station = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Job:
    implementation: Implementation
    backwards: bool = False

    @property
    def until_failure(self) -> bool:
        return self.implementation.mutant is not None


def judge_tests(
    problem: Problem,
    submission: Submission,
    engine: Engine,
    station: Station = lambda text: None,
    *,
    wanted: Callable[[str], bool] = lambda behaviour: True,
) -> Report:
    """Judge a file of tests. Raises SubmissionError where it holds nothing to judge.

    ``wanted``: leave out mutants that break other behaviours; a proof does, where they can't change what it asks.
    """
    started = time.monotonic()
    engine.prepare("judge.processes.tests_worker")
    for word, module in _HEAVY.items():
        if word.encode() in submission.source:
            engine.prepare(module)
    correct, mutants = load_implementations(problem.folder)
    wrong = [one for one in mutants if one.mutant is not None and wanted(one.mutant.behaviour)]
    station("running your tests")
    judging = _Judging(problem, submission, engine, correct, wrong)
    judging.run()
    verdict, message, line = judging.verdict()
    return Report(
        problem=problem.id,
        title=problem.title,
        file=str(submission.path),
        source=submission.source,
        source_sha256=hashlib.sha256(submission.source).hexdigest(),
        verdict=verdict,
        message=message,
        line=line,
        points=problem.points if verdict == "accepted" else 0,
        max_points=problem.points,
        cases=judging.cases,
        remarks=tuple(remark for case in judging.cases for remark in case.remarks),
        printed=judging.printed(LOADING),
        thoroughness=judging.thoroughness,
        environment=Environment(isolation=engine.isolation, **environment()),
        seconds=time.monotonic() - started,
        peak_mib=max((run.peak_mib for run in judging.runs.values()), default=None),
    )


class _Judging:
    """All runs of one file, and what they say."""

    def __init__(
        self,
        problem: Problem,
        submission: Submission,
        engine: Engine,
        correct: Sequence[Implementation],
        wrong: Sequence[Implementation],
    ):
        self.runs: dict[_Job, Run] = {}
        self.cases: tuple[CaseResult, ...] = ()
        self.thoroughness: Thoroughness | None = None
        self._problem, self._submission, self._engine = problem, submission, engine
        self._source = submission.source.decode("utf-8-sig")
        self._correct, self._wrong = correct, wrong
        turns = list(range(len(correct)))
        random.SystemRandom().shuffle(turns)
        self._turns = {one.name: 2 * turn for one, turn in zip(correct, turns, strict=True)}
        self._numbers: dict[_Job, int] = {}  # at which test a run begins and, where odd, that it goes backwards
        self._budget = Budget(problem.limits.submission_seconds, _AT_ONCE)
        self._hangs = 0
        self._useless = False

    def run(self) -> None:
        """Make all runs, and draw what there is to draw from them."""
        jobs = [_Job(one, backwards) for one in self._correct for backwards in (False, True)]
        jobs += [_Job(one) for one in self._wrong]
        random.SystemRandom().shuffle(jobs)
        self._numbers = {job: self._number(job) for job in jobs}
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            list(pool.map(self._try, jobs))
        self._refuse_what_is_no_tests()
        if self._error is None and self._items:
            self._conclude()

    def verdict(self) -> tuple[Verdict, str | None, int | None]:
        """The verdict, its one sentence, and the line that it is about."""
        if self._error is not None:
            return self._error.status, self._error.message, self._error.line
        for case in self.cases:
            if case.status != "passed" and case.status != "not reached":
                return case.status, self._count(), None
        lost = next((run.lost for run in self._correct_runs if run.lost), None)
        if lost is not None:
            return lost.status, f"on a correct implementation: {lost.message}", None
        if len({run.items for run in self.runs.values()}) > 1:
            return "wrong answer", "the file holds other tests from one run to the next", None
        if self._budget.over or self._hangs >= _MOST_HANGS:
            return "time limit", self._overrun(), None
        assert self.thoroughness is not None
        fine = self.thoroughness.caught == len(self.thoroughness.bugs)
        return "accepted" if fine else "wrong answer", self._count(), None

    def printed(self, number: int) -> tuple[str, ...]:
        """The last lines that were printed during a test, or the import, by the first run that printed any."""
        texts = (run.printed.get(number, b"") for run in self.runs.values())
        text = next((text for text in texts if text.strip()), b"")
        return tuple(text.decode("utf-8", errors="replace").splitlines()[-_PRINTED_LINES:])

    def _try(self, job: _Job) -> None:
        if self._useless or self._budget.over or self._hangs >= _MOST_HANGS:
            return
        session = Session(self._problem, self._engine, self._source, self._budget)
        number = self._numbers[job]
        turn, backwards = (number, 2 * len(self._correct)), bool(number % 2)
        run = session.run(job.implementation.source, until_failure=job.until_failure, backwards=backwards, turn=turn)
        self.runs[job] = run
        self._useless |= run.error is not None or not run.items
        self._hangs += run.lost is not None and run.lost.status == "time limit"

    def _number(self, job: _Job) -> int:
        """A mutant's run is like any of the correct ones' runs: the order of its tests must not give it away."""
        if job.until_failure:
            return random.SystemRandom().randrange(2 * len(self._correct))
        return self._turns[job.implementation.name] + job.backwards

    def _refuse_what_is_no_tests(self) -> None:
        """What imports, and holds no test or far too many."""
        if self._error is not None:
            return
        counts = [len(run.items) for run in self.runs.values() if run.items is not None]
        if 0 in counts:
            raise SubmissionError(f"{self._submission.path}: holds no test; write functions that begin with test_")
        if max(counts) > MOST_TESTS:
            raise SubmissionError(f"{self._submission.path}: holds {max(counts)} tests; {MOST_TESTS} are enough")

    def _conclude(self) -> None:
        twice = [
            Twice(one, self.runs.get(_Job(one), Run()), self.runs.get(_Job(one, True), Run())) for one in self._correct
        ]
        cases = [judge_test(number, self._items, twice) for number in range(len(self._items))]
        if all(case.status == "not reached" and case.remarks for case in cases):
            raise SubmissionError(f"{self._submission.path}: no test counts; all are skipped or expected to fail")
        self.cases = tuple(
            case
            if case.status in ("passed", "not reached")
            else case.model_copy(update={"printed": self.printed(number)})
            for number, case in enumerate(cases)
        )
        names = [item.name for item in self._items]
        counting = [number for number, case in enumerate(cases) if case.status == "passed"]
        runs = [(one, self.runs.get(_Job(one))) for one in self._wrong]
        self.thoroughness = measure(names, counting, len(self._correct), runs)

    def _count(self) -> str:
        assert self.thoroughness is not None
        invalid = sum(case.status not in ("passed", "not reached") for case in self.cases)
        refused = (
            f"{invalid} of {counted(len(self.cases), 'test')} {'is' if invalid == 1 else 'are'} not valid; "
            if invalid
            else ""
        )
        caught, bugs = self.thoroughness.caught, len(self.thoroughness.bugs)
        return f"{refused}{caught} of {counted(bugs, 'bug')} {'is' if caught == 1 else 'are'} noticed"

    def _overrun(self) -> str:
        if self._budget.over:
            return f"all implementations together took more than {self._problem.limits.submission_seconds:g} s"
        return f"{_MOST_HANGS} runs did not end; a bug is caught by a test that fails, not by one that hangs"

    @property
    def _error(self) -> Lost | None:
        return next((run.error for run in self.runs.values() if run.error), None)

    @property
    def _items(self) -> tuple[Item, ...]:
        return next((run.items for run in self.runs.values() if run.items), ())

    @property
    def _correct_runs(self) -> list[Run]:
        return [run for job, run in self.runs.items() if not job.until_failure]
