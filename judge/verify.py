"""The proof of a problem: what is right passes, every seeded bug fails on the cases that it names, and nothing idles.

References, rewrites and junk are judged like a student's file; so are mutants with ``--production``, otherwise the
oracle worker tries them itself (judge/mutant_trials.py), if a trial of the reference passes. What is proven, in this
order; the first complaint is the first thing to mend:

    the reference is accepted and agrees with its oracle      the stub is refused      every rewrite is accepted
    every mutant is refused, by each case of its `kills`      junk is refused           no case is decoration
    no two mutants give equal observations                    the margins: rewrites <= 1e-8, mutants >= 1e-3
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.answers import read_answers
from judge.errors import Error, SubmissionError
from judge.junk import junk, raising
from judge.models import ClosedUse, Problem, Report, Submission
from judge.mutants import Mutant, load_mutants
from judge.parsing import parse
from judge.pipeline import OpenProblem
from judge.processes.supervision import Engine
from judge.submission import read_submission

REWRITE_MARGIN = 1e-8
MUTANT_MARGIN = 1e-3


@dataclass(frozen=True, slots=True)
class Step:
    """What a proof is at: ``done`` of ``total`` right answers and mutants, and what comes now."""

    problem: str
    done: int
    total: int
    now: str


Progress = Callable[[Step], None]


@dataclass(slots=True)
class Proof:
    """What `judge verify` found out about one problem; ``kills``: mutant -> the cases that catch it."""

    problem: str
    cases: list[str] = field(default_factory=list)
    kills: dict[str, list[str]] = field(default_factory=dict)
    unit: str = "cases"  # what ``cases`` are; of a problem about tests they are exemplars
    relations: int = 0
    rewrites: int = 0
    junk: int = 0
    worst_rewrite: float = 0.0
    mildest_mutant: float = float("inf")
    mildest_name: str = ""
    complaints: list[str] = field(default_factory=list)
    seconds: float = 0.0
    judging_seconds: float = 0.0  # of the reference, with the processes at hand
    remembered: bool = False  # from judge/proof_cache.py

    @property
    def ok(self) -> bool:
        return not self.complaints


@dataclass(frozen=True, slots=True)
class How:
    """How to prove: what verify() says of these; ``at_once``: mutants side by side."""

    seed: int | None
    production: bool
    quick: bool
    at_once: int


def verify(
    problems: Sequence[Problem],
    engine: Engine,
    progress: Progress = lambda step: None,
    *,
    workers: int = 2,
    seed: int | None = None,
    production: bool = False,
    quick: bool = False,
) -> Iterator[Proof]:
    """The proofs of all problems, each as it is ready, ``workers`` at a time, those with most to prove first.

    ``seed`` draws the inputs; each problem draws its own if none is given. ``production``: judge mutants like a
    student's file; otherwise the oracle worker tries them itself, where it can. ``quick``: mutants meet only the cases
    of their kills, so what needs all of them is not looked at: decoration, margins, mutants that are equal.
    """
    heaviest = sorted(problems, key=lambda problem: -(problem.folder / "hidden" / "mutants.toml").stat().st_size)
    how = How(seed, production, quick, at_once=max(1, workers // max(1, len(heaviest))))
    mixed = len({problem.kind == "tests" for problem in heaviest}) > 1
    with contextlib.ExitStack() as stack:
        # Runs of tests let an engine import what they need; submissions of other kinds never find it there.
        apart = stack.enter_context(Engine("auto" if engine.forks else "process")) if mixed else engine
        pool = stack.enter_context(ThreadPoolExecutor(max_workers=workers))
        proofs = [
            pool.submit(_prover(problem)(problem, apart if problem.kind == "tests" else engine, progress, how).prove)
            for problem in heaviest
        ]
        yield from (proof.result() for proof in as_completed(proofs))


def _prover(problem: Problem) -> type[Prover]:
    from judge.verify_tests import TestsProver  # which builds on this module

    return TestsProver if problem.kind == "tests" else Prover


class Prover:
    """The proof of one problem while it is made."""

    def __init__(self, problem: Problem, engine: Engine, progress: Progress, how: How):
        self.problem = problem
        self._at_once = how.at_once
        self._quick = how.quick
        self.proof = Proof(problem.id)
        self._done = self._total = 0
        self._engine = engine
        self._progress = progress
        self._seed = secrets.randbits(32) if how.seed is None else how.seed
        self._hidden = problem.folder / "hidden"
        self._production = how.production or problem.kind == "answers" or not engine.forks

    def prove(self) -> Proof:
        started = time.monotonic()
        try:
            self._opened = OpenProblem(self.problem, self._engine, seed=self._seed)
            self.proof.cases = [case["name"] for case in self._opened.cases]
            self.proof.relations = sum(case["relation"] for case in self._opened.cases)
            try:
                self._all()
            finally:
                self._opened.close()
        except Error as exc:
            self._complain(str(exc))
        self.proof.seconds = time.monotonic() - started
        return self.proof

    def _all(self) -> None:
        mutants = load_mutants(self.problem.folder)
        rewrites = sorted((self._hidden / "rewrites").glob("*.py"))
        self._total = 2 + len(rewrites) + len(mutants)
        self._right("hidden/reference.py", self._hidden / "reference.py")
        self._second_opinion()
        if self._judge("stub.py", self._read(self.problem.folder / "stub.py")).verdict == "accepted":
            self._complain("stub.py is accepted as it is; add a case that it fails")
        for path in rewrites:
            self._right(f"hidden/rewrites/{path.name}", path)
        self.proof.rewrites = len(rewrites)
        self._refused(mutants)
        if not self._quick:
            self._no_decoration(mutants)
            self._no_equals()
        self._no_junk()

    def _refused(self, mutants: Sequence[Mutant]) -> None:
        """Try each mutant: it has to be refused."""
        if not self._production:  # a trial that the reference fails would fail everything
            reference = (self._hidden / "reference.py").read_text(encoding="utf-8")
            ((_, fared),) = self._trials([{"name": "reference", "source": reference, "cases": []}], keep=False)
            self._production = fared is None or bool(fared["failed"])
        tried = {} if self._production else self._try(mutants)
        for mutant in mutants:
            self._wrong(mutant, tried)

    def _no_equals(self) -> None:
        self._tell("comparing the mutants with each other")
        pairs = self._opened.ask({"type": "equal pairs", "seconds": min(10 * self._seconds, 200)})["pairs"]
        if pairs is None:
            self._complain("the mutants could not be compared with each other in time")
        for one, other in pairs or ():
            self._complain(
                f"mutants {one!r} and {other!r} give equal observations on all cases; tell them apart or drop one"
            )

    def _right(self, name: str, path: Path) -> None:
        """Judge something that must be accepted."""
        report = self._judge(name, self._read(path))
        self.proof.judging_seconds = self.proof.judging_seconds or report.seconds or 0.0
        worst = max((case.error or 0.0 for case in report.cases), default=0.0)
        self.proof.worst_rewrite = max(self.proof.worst_rewrite, worst)
        if report.verdict != "accepted":
            self._complain(f"{name} gets {report.verdict!r} (seed {self._seed}): {_reason(report)}")
        elif worst > REWRITE_MARGIN:
            self._complain(f"{name} differs from the reference by {worst:.1e}, more than {REWRITE_MARGIN:g}")

    def _second_opinion(self) -> None:
        if self.problem.oracle is None:
            self._complain('problem.toml names no oracle; add oracle = "reference.<module>"')
            return
        answer = self._opened.ask({"type": "oracle", "module": self.problem.oracle})
        if answer["complaints"]:
            self._complain(f"the reference and its oracle {self.problem.oracle} disagree: {answer['complaints'][0]}")
        elif answer["worst"] > REWRITE_MARGIN:
            self._complain(f"the reference and its oracle {self.problem.oracle} differ by {answer['worst']:.1e}")

    def _wrong(self, mutant: Mutant, tried: dict[str, dict[str, Any] | None]) -> None:
        """What came of a mutant: refused, by each case that it names."""
        accepted, killed, severity = self._fared(mutant, tried)
        self.proof.kills[mutant.name] = killed
        if accepted:
            self._complain(
                f"mutant {mutant.name!r} is accepted (seed {self._seed}); add a case that sees it, or change an input"
            )
            return
        for case in mutant.kills:
            if case not in self.proof.cases:
                self._complain(f"mutant {mutant.name!r} names a case {case!r} in kills, and there is none")
            elif case not in killed:
                self._complain(f"mutant {mutant.name!r} passes the case {case!r} of its kills (seed {self._seed})")
        if severity < self.proof.mildest_mutant:
            self.proof.mildest_mutant, self.proof.mildest_name = severity, mutant.name
        if severity < MUTANT_MARGIN and not self._quick:
            self._complain(
                f"mutant {mutant.name!r} differs by only {severity:.1e}, less than {MUTANT_MARGIN:g}; change an input"
            )

    def _fared(self, mutant: Mutant, tried: dict[str, dict[str, Any] | None]) -> tuple[bool, list[str], float]:
        """Whether a mutant is accepted, which cases kill it, and how clearly the clearest does."""
        if not self._production:
            fared = tried[mutant.name]
            if fared is None:
                self._complain(f"mutant {mutant.name!r} gave no answer in {self._seconds:g} s, or ended its process")
            else:
                severity = float("inf") if fared["severity"] is None else fared["severity"]
                return not fared["failed"], fared["failed"], severity
        report = self._judge(f"mutant {mutant.name}", self._source(mutant.name, mutant.source), keep=mutant.name)
        severity = max((_severity(case.findings) for case in report.failed), default=0.0)
        return report.verdict == "accepted", [case.name for case in report.failed], severity

    def _try(self, mutants: Sequence[Mutant]) -> dict[str, dict[str, Any] | None]:
        """Let the oracle worker try all mutants."""
        about = [
            {"name": mutant.name, "source": mutant.source, "cases": [*mutant.kills] if self._quick else []}
            for mutant in mutants
        ]
        fared: dict[str, dict[str, Any] | None] = {}
        self._tell("mutants")
        for name, found in self._trials(about, keep=not self._quick):
            fared[name] = found
            if len(fared) < len(about):
                self._tell("mutants")
        return fared

    def _trials(self, about: Sequence[dict[str, Any]], *, keep: bool) -> Iterator[tuple[str, dict[str, Any] | None]]:
        question = {"type": "mutants", "mutants": about, "seconds": self._seconds, "at_once": self._at_once}
        for answer in self._opened.ask_for_each(question | {"keep": keep}, len(about)):
            yield answer["name"], answer["fared"]

    @property
    def _seconds(self) -> float:
        return self.problem.limits.submission_seconds

    def _no_decoration(self, mutants: Sequence[Mutant]) -> None:
        half = len(self.proof.cases) / 2
        biting = {case for mutant in mutants if len(self.proof.kills[mutant.name]) < half for case in mutant.kills}
        idle = [case for case in self.proof.cases if case not in biting]
        if len(idle) > 1:
            self._complain(
                f"only one plain case may idle; name each of {', '.join(idle)} in the kills of a mutant "
                "that fewer than half of the cases see"
            )

    def _no_junk(self) -> None:
        report = self._judge("junk", self._source("raising", raising(self.problem.entry_points)))
        for case in report.cases:
            if case.status == "passed":
                self._complain(f"case {case.name!r} passes a submission in which everything raises")
        reference = (self._hidden / "reference.py").read_text(encoding="utf-8")
        kinds = self._opened.ask({"type": "kinds"})["kinds"]
        for name, source in junk(reference, self.problem.entry_points, kinds):
            self.proof.junk += 1
            submission = self._source(name, source)
            if self._fails_early(submission, name):
                continue
            if self._judge("junk", submission).verdict == "accepted":
                self._complain(f"junk is accepted: {name}")

    def _fails_early(self, submission: Submission, name: str) -> bool:
        """Whether it is refused by the first case about the entry point that it spoils, which is all that is asked."""
        first = next((case["name"] for case in self._opened.cases if case["entry"] == name.split()[0]), None)
        if first is None or submission.answers is not None:
            return False
        return bool(self._opened.judge(submission, diagnose=False, streams=False, only=[first]).failed)

    def _judge(self, name: str, submission: Submission | Report, keep: str | None = None) -> Report:
        self._tell(name)
        if isinstance(submission, Report):
            return submission
        return self._opened.judge(submission, diagnose=False, keep=keep, streams=False)

    def _read(self, path: Path) -> Submission | Report:
        """The file as a student's would be read; what can't be judged at all is a refusal."""
        try:
            return read_submission(path, self.problem)
        except SubmissionError as exc:
            return Report(
                problem=self.problem.id,
                title=self.problem.title,
                file=str(path),
                verdict="invalid submission",
                message=str(exc),
            )

    def _source(self, name: str, source: str) -> Submission:
        answers = read_answers(parse(source)) if self.problem.kind == "answers" else None
        return Submission(path=Path(f"{name}.py"), source=source.encode(), answers=answers)

    def _tell(self, now: str) -> None:
        self._progress(Step(self.proof.problem, min(self._done, self._total), self._total, now))
        self._done += 1

    def _complain(self, text: str) -> None:
        self.proof.complaints.append(text)


def _severity(findings: Sequence[object]) -> float:
    errors = [getattr(finding, "error", None) for finding in findings]
    return float("inf") if None in errors else max((error for error in errors if error is not None), default=0.0)


def _reason(report: Report) -> str:
    if report.message:
        return report.message
    if report.closed:
        return _closed(report.closed[0])
    for case in report.failed:
        finding = case.findings[0] if case.findings else None
        return f"case {case.name!r}: {finding.subject} {finding.message}" if finding else f"case {case.name!r}"
    return "no case failed"


def _closed(use: ClosedUse) -> str:
    return f"it uses {use.name}" + (f" in line {use.line}" if use.line else "")
