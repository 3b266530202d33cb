"""The proof of a problem whose answer is a file of tests, by exemplars of such files.

the implementations   the contract's problem accepts the reference and each rewrite, and refuses each mutant
pass_*.py             are accepted: every correct implementation passes, every mutant is caught
fail_*.py             are not, for the reason that their first line gives; neither is the stub

# fails: invalid: TEXT            a test is not valid, and the report says so in sentences with TEXT
# fails: uncaught: scale, masks   all tests are valid, and mutants that break these behaviours are not caught
# fails: time limit: TEXT         or another verdict, whose message holds TEXT

A fail_*.py meets only the mutants that its reason is about, all of them with ``--production``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judge import catalog
from judge.errors import SubmissionError
from judge.models import Problem, Report
from judge.mutants import BEHAVIOURS
from judge.processes.supervision import Engine
from judge.submission import read_submission
from judge.testing.implementations import load_implementations
from judge.testing.judging import judge_tests
from judge.verify import How, Progress, Prover

LEAST = {"mutants": 25, "rewrites": 6, "files pass_*.py": 4, "files fail_*.py": 12}
_MARK = "# fails: "


class TestsProver(Prover):
    """The implementations are proven as the contract's problem proves its own; then come the exemplars."""

    __test__ = False  # its name begins like a test's

    def __init__(self, problem: Problem, engine: Engine, progress: Progress, how: How):
        contract = catalog.load_problem(str(problem.contract), problem.folder.parent)
        contract = contract.model_copy(update={"closed": ()})  # an implementation that is tested may use anything
        super().__init__(contract, engine, progress, how)
        self.tests = problem
        self.proof.problem = problem.id
        self.proof.unit = "exemplars"
        self._hidden = problem.folder / "hidden"
        self._engine = engine
        self._thorough = how.production

    def _all(self) -> None:
        correct, wrong = load_implementations(self.tests.folder)
        mutants = [one.mutant for one in wrong if one.mutant is not None]
        exemplars = sorted((self._hidden / "exemplars").glob("*.py"))
        self._total = len(correct) + len(mutants) + 1 + len(exemplars)
        self._right("hidden/reference.py", self._hidden / "reference.py")
        for one in correct[1:]:
            self._right(f"hidden/rewrites/{one.name}.py", self._hidden / "rewrites" / f"{one.name}.py")
        tried = {} if self._production else self._try(mutants)
        for mutant in mutants:
            self._wrong(mutant, tried)
        if not self._quick:
            self._no_equals()
        self.proof.rewrites = len(correct) - 1
        self.proof.cases = [path.stem for path in exemplars]
        self.proof.kills = {mutant.name: [] for mutant in mutants}
        for path in exemplars:
            self._exemplar(path)
        if self._submit(self.tests.folder / "stub.py").verdict == "accepted":
            self._complain("stub.py is accepted as it is; leave something to the student")
        passing = sum(path.stem.startswith("pass_") for path in exemplars)
        self._count(len(mutants), len(correct) - 1, passing, len(exemplars) - passing)

    def _exemplar(self, path: Path) -> None:
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        report = self._submit(path, first.removeprefix(_MARK) if first.startswith(_MARK) else "")
        for bug in report.thoroughness.bugs if report.thoroughness else ():
            if bug.mutant is not None:
                self.proof.kills[bug.mutant].append(path.stem)
        where = f"hidden/exemplars/{path.name}"
        if path.stem.startswith("pass_"):
            self.proof.judging_seconds = self.proof.judging_seconds or report.seconds
            if report.verdict != "accepted":
                self._complain(f"{where} gets {report.verdict!r}: {said(report)}")
        elif not path.stem.startswith("fail_") or not first.startswith(_MARK):
            self._complain(f"{where}: is named neither pass_ nor fail_, or its first line is not like '{_MARK}invalid'")
        elif not fails_as(first.removeprefix(_MARK).strip(), report):
            self._complain(f"{where} does not fail as its first line says: {said(report)}")

    def _submit(self, path: Path, reason: str = "") -> Report:
        """Judge a file; without ``--production`` only on what its reason to fail is about."""
        self._tell(path.name)
        kind, _, text = reason.strip().partition(": ")
        wanted = {"invalid": (), "uncaught": tuple(text.split(", "))}.get(kind, BEHAVIOURS)
        try:
            submission = read_submission(path, self.tests)
            return judge_tests(self.tests, submission, self._engine, wanted=lambda one: self._thorough or one in wanted)
        except SubmissionError as exc:
            about: dict[str, Any] = {
                "problem": self.tests.id,
                "title": self.tests.title,
                "file": str(path),
                "message": str(exc),
            }
            return Report(verdict="invalid submission", **about)

    def _count(self, *found: int) -> None:
        for (what, least), number in zip(LEAST.items(), found, strict=True):
            if number < least:
                self._complain(f"hidden/ has {number} {what}; write at least {least}")


def fails_as(reason: str, report: Report) -> bool:
    """Whether a report says what the first line of an exemplar promises."""
    kind, _, text = reason.partition(": ")
    if report.verdict == "accepted":
        return False
    if kind == "invalid":
        return bool(report.failed) and text in said(report)
    if kind == "uncaught":
        open_ones = (
            {bug.behaviour for bug in report.thoroughness.bugs if not bug.mutant} if report.thoroughness else set()
        )
        return report.verdict == "wrong answer" and not report.failed and set(text.split(", ")) <= open_ones
    return report.verdict == kind and text in (report.message or "")


def said(report: Report) -> str:
    """What a report says about tests that are not valid and bugs that are not noticed, in one line."""
    tests = [f"{case.name} {finding.subject}: {finding.message}" for case in report.failed for finding in case.findings]
    bugs = report.thoroughness.bugs if report.thoroughness else ()
    missed = [f"uncaught: {', '.join(sorted({bug.behaviour for bug in bugs if not bug.mutant}))}"] if bugs else []
    return "; ".join([report.message or "", *tests, *missed])
