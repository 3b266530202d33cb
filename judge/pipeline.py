"""The one way through: problem + submission -> report.

OpenProblem    an oracle worker draws the inputs of a problem and runs its reference
  .judge       a student worker runs a submission's calls; the oracle worker compares and diagnoses
submit         both, for one file
not_judged     the report where nothing could be judged, or the judge failed
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import functools
import hashlib
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import judge
from judge.environment import environment, processors
from judge.errors import Error, JudgeError, ProblemError, SubmissionError, UsageError
from judge.lanes import Lanes
from judge.models import CaseResult, ClosedUse, Environment, Problem, Report, StreamCurve, Submission
from judge.outcomes import case_result, diagnosis_of, last_lines, not_reached, remarks_of, unique_uses, verdict_of
from judge.parsing import parse
from judge.prerequisites import root_causes
from judge.processes import leftovers
from judge.processes.plain import encode_plain
from judge.processes.supervision import Engine
from judge.running import Ran, Runner
from judge.submission import read_submission
from judge.worker_events import LOADING, Lost

_ROOT = Path(judge.__file__).resolve().parent.parent
_ORACLE_SECONDS = 300.0
_MOST_LANES = 4
_GRADIENTS_DEPTH = 16  # as deep as a stream is measured without them

Station = Callable[[str], None]


def submit(
    problem: Problem,
    path: Path,
    engine: Engine,
    *,
    seed: int | None = None,
    cases: Sequence[str] = (),
    gradients: bool = False,
    station: Station = lambda text: None,
) -> Report:
    """Judge one file. A seed or cases make it practice. Raises UsageError for a missing file or an unknown case.

    ``gradients``: measure those of the residual streams, too, which takes a little longer.
    """
    if problem.kind == "tests" and (seed is not None or cases):
        raise UsageError(f"{problem.id} has no cases and draws no inputs: your tests do; leave the option out")
    _check_cases(problem, cases)
    practice = seed is not None or bool(cases)
    seed = secrets.randbits(32) if seed is None else seed
    try:
        submission = read_submission(path, problem)
        station("starting torch")
        if problem.kind == "tests":
            from judge.testing.judging import judge_tests  # no other problem has a use for it

            return judge_tests(problem, submission, engine, station)
        depth = _GRADIENTS_DEPTH if gradients else None
        with contextlib.closing(OpenProblem(problem, engine, seed=seed, cases=cases, depth=depth)) as opened:
            station("running your code")
            return opened.report(submission, practice=practice)
    except (SubmissionError, ProblemError, JudgeError) as exc:
        return not_judged(problem, path, exc, seed=seed, practice=practice)


def not_judged(problem: Problem, path: Path, exc: Error, *, seed: int | None = None, practice: bool = False) -> Report:
    """Report a submission that holds nothing to judge, or a failure of the judge's."""
    blank = Report(
        problem=problem.id, title=problem.title, file=str(path), verdict="judge error", practice=practice, seed=seed,
        max_points=problem.points, message=str(exc),
    )  # fmt: skip
    if not isinstance(exc, SubmissionError):
        return blank
    found = {"line": exc.line, "column": exc.column, "line_text": exc.text, "source": exc.source}
    message = str(exc) if exc.line is None else exc.message
    return blank.model_copy(update={"verdict": "invalid submission", "message": message, **found})


def case_names(problem: Problem) -> list[str]:
    """The names of a problem's cases in their order, without running anything."""
    if problem.kind == "tests":
        return []
    tree = parse((problem.folder / "cases.py").read_text(encoding="utf-8"))
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(_name(mark) in ("case", "relation") for mark in node.decorator_list)
    ]


def _name(decorator: ast.expr) -> str | None:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return function.id if isinstance(function, ast.Name) else None


def case_script(problem: Problem, engine: Engine, case: str, seed: int) -> str:
    """A plain script with the inputs and calls of one case, as drawn with ``seed``."""
    _check_cases(problem, [case])
    with contextlib.closing(OpenProblem(problem, engine, seed=seed, cases=[case])) as opened:
        return str(opened.ask({"type": "script", "case": case, "seed": seed})["text"])


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The plan of a problem that is open, the cotangents' pool, and the calls as bytes."""

    cases: list[dict[str, Any]]
    order: list[int]
    constants: dict[int, dict[str, str]]
    streams: frozenset[int]
    pool: bytes
    calls: dict[int, bytes]


class OpenProblem:
    """A problem with its oracle worker: drawn once, judged as often as wanted."""

    def __init__(
        self, problem: Problem, engine: Engine, *, seed: int, cases: Sequence[str] = (), depth: int | None = None
    ):
        self.problem = problem
        self.engine = engine
        self.seed = seed
        self._oracle = engine.worker("oracle")
        self._lanes: Lanes | None = None
        self._abandoned = False
        self._scratch = engine.scratch() if problem.limits.scratch_mib else None
        signatures = {entry.name: dict(entry.signatures) for entry in problem.entry_points}
        self._oracle.send(
            {
                "type": "problem", "root": str(_ROOT), "folder": str(problem.folder), "scratch": self._scratch,
                "id": problem.id, "seed": seed,
                "signatures": signatures, "only": list(cases), "depth": depth,
            }
        )  # fmt: skip

    @functools.cached_property
    def _drawn(self) -> _Drawn:
        """What the oracle worker has drawn; waits for it."""
        plan, _ = self._next("plan")
        _, pool = self._next("pool")
        return _Drawn(
            cases=plan["cases"],
            order=plan["order"],
            constants={int(number): names for number, names in plan["constants"].items()},
            streams=frozenset(plan["streams"]),
            pool=pool,
            calls=dict(self._take_call() for _ in plan["order"]),
        )

    @property
    def cases(self) -> list[dict[str, Any]]:
        """The cases as the oracle worker planned them: name, entry, sentence, calls, inputs."""
        return self._drawn.cases

    @property
    def lanes_used(self) -> int:
        """How many student workers the last judging had side by side."""
        return self._lanes.used if self._lanes else 1

    def ask(self, question: dict[str, Any], body: bytes = b"") -> dict[str, Any]:
        """Put a question to the oracle worker that has one answer; its body, if it has one, is ``body`` there."""
        _ = self._drawn  # what it draws comes first
        self._oracle.send(question, body)
        answer, data = self._next(question["type"])
        return answer | {"body": data}

    def ask_for_each(self, question: dict[str, Any], answers: int) -> Iterator[dict[str, Any]]:
        """Put a question to the oracle worker that has so many answers."""
        _ = self._drawn
        self._oracle.send(question)
        for _ in range(answers):
            yield self._next(question["type"])[0]

    def judge(
        self,
        submission: Submission,
        *,
        practice: bool = False,
        diagnose: bool = True,
        keep: str | None = None,
        streams: bool = True,
        only: Sequence[str] = (),
        lanes: int = 1,
    ) -> Report:
        """Judge a submission on the drawn cases, or ``only`` on some, in ``lanes`` student workers side by side.

        ``keep``: let the oracle worker remember its observations. ``streams``: measure the residual streams, too.
        """
        started = time.monotonic()
        self._oracle.send({"type": "begin"})
        new = functools.partial(self._new_runner, submission, self._pass_on)
        with contextlib.closing(Lanes(new, lanes)) as running:
            self._lanes = running
            if self._abandoned:
                running.abandon()
            if submission.answers is None:
                running.begin()  # while the inputs are drawn
            surroundings = environment()
            chosen = [one for one in self.cases if not only or one["name"] in only]
            case = {number: one["name"] for one in chosen for number in one["calls"]}
            wanted = case.keys() | (self._drawn.streams if streams else ())
            if submission.answers is not None:
                ran = self._answer(submission.answers)
            else:
                order = [number for number in self._drawn.order if number in wanted]
                ran = running.run(order, self._drawn.pool, self._drawn.calls, case)
        if ran.missing:
            missing = SubmissionError(f"{', '.join(ran.missing)} not defined after the file was imported")
            missing.source = submission.source
            raise missing
        self._oracle.send({"type": "end", "diagnose": diagnose, "keep": keep})
        result = self._result(ran)
        shown = self.problem.inputs_shown
        cases = () if ran.import_lost else tuple(case_result(one, result, ran, inputs_shown=shown) for one in chosen)
        uses = (*submission.closed_uses, *(ClosedUse(name=name, line=line) for name, line in ran.closed))
        closed_uses = unique_uses(uses)
        verdict, message = verdict_of(cases, closed_uses, ran, practice, running.over_memory)
        if message is None:
            message = not_reached(chosen, cases, ran)
        return Report(
            problem=self.problem.id,
            title=self.problem.title,
            file=str(submission.path),
            source=submission.source,
            source_sha256=hashlib.sha256(submission.source).hexdigest(),
            verdict=verdict,
            practice=practice,
            seed=self.seed,
            message=message,
            line=ran.import_lost.line if ran.import_lost else None,
            points=self.problem.points if verdict == "accepted" else 0,
            max_points=self.problem.points,
            cases=cases,
            closed=closed_uses,
            remarks=remarks_of(submission, cases, ran),
            printed=last_lines(ran.printed.get(LOADING, b"")),
            diagnosis=diagnosis_of(result["diagnosis"]),
            stream=tuple(StreamCurve(**curve) for curve in result["streams"]) if not ran.import_lost else (),
            environment=Environment(isolation=self.engine.isolation, **surroundings),
            seconds=time.monotonic() - started,
            import_seconds=ran.import_seconds,
            peak_mib=ran.peak_mib,
        )

    def report(self, submission: Submission, *, practice: bool = False) -> Report:
        """Judge a submission for the student who reads it: root causes first, and where in a module they are."""
        judged = self.judge(submission, practice=practice, lanes=_most_lanes(self.engine))
        cases = self._look_inside(submission, root_causes(judged.cases, self.cases))
        return judged.model_copy(update={"cases": cases})

    def _look_inside(self, submission: Submission, cases: tuple[CaseResult, ...]) -> tuple[CaseResult, ...]:
        """Find out for the first case that failed by its values which part of the module is the first to differ."""
        failed = next((case for case in cases if case.status not in ("passed", "not reached")), None)
        if failed is None or failed.status != "wrong answer" or failed.findings[0].facet != "value":
            return cases
        asked = self.ask({"type": "traced", "case": failed.name})
        if asked["call"] is None:
            return cases
        seen: list[bytes] = []
        new = functools.partial(self._new_runner, submission, lambda number, body: seen.append(body))
        with contextlib.closing(Lanes(new, 1)) as running:
            running.run([asked["call"]], self._drawn.pool, {asked["call"]: asked["body"]}, {})
        said = self.ask({"type": "parts", "call": asked["call"]}, seen[0])["said"] if seen else None
        found = failed.model_copy(update={"inside": said})
        return tuple(found if case is failed else case for case in cases)

    def abandon(self) -> None:
        """End a judging at once, from another thread; it raises JudgeError or gives a report that means nothing."""
        self._abandoned = True
        if self._lanes:
            self._lanes.abandon()
        self._oracle.kill()

    def close(self) -> None:
        """End the oracle worker; what it wrote goes with it."""
        self._oracle.kill()
        self._oracle.finish()
        if self._scratch:
            leftovers.remove(self._scratch)

    def _new_runner(self, submission: Submission, observed: Callable[[int, bytes], None]) -> Runner:
        setup = {
            "source": submission.source.decode("utf-8-sig"),
            "names": [entry.name for entry in self.problem.entry_points],
            "closed": list(self.problem.closed),
        }
        return Runner(self.engine, self.problem.limits, setup, observed)

    def _answer(self, answers: dict[str, Any]) -> Ran:
        """Let the values of plain answers be the observations: no worker is needed."""
        for number, names in self._drawn.constants.items():
            missing = [name for name in names.values() if name not in answers]
            values = {seen: encode_plain(answers[name]) for seen, name in names.items() if not missing}
            error: dict[str, Any] = {"kind": "missing", "type": "", "message": f"{', '.join(missing)} is missing"}
            error |= {"bases": [], "line": None, "traceback": []}
            self._pass_on(number, encode_plain({"error": error if missing else None, "values": values}))
        return Ran()

    def _pass_on(self, number: int, body: bytes) -> None:
        self._oracle.send({"type": "observation", "call": number}, body)

    def _result(self, ran: Ran) -> dict[str, Any]:
        while True:
            header, _ = self._next("result", "unreadable")
            if header["type"] == "result":
                return header
            ran.lost[header["call"]] = Lost("runtime error", header["message"])

    def _take_call(self) -> tuple[int, bytes]:
        header, body = self._next("call")
        return header["call"], body

    def _next(self, *kinds: str) -> tuple[dict[str, Any], bytes]:
        event = self._oracle.next_event(time.monotonic() + _ORACLE_SECONDS)
        if event is None:
            raise JudgeError(f"the comparison gave no answer after {_ORACLE_SECONDS:g} s")
        if event.kind != "frame":
            self._oracle.settle()
            said = bytes(self._oracle.log).decode(errors="replace").strip().splitlines()
            raise JudgeError(
                f"the comparing process has ended: {said[-1] if said else event.header.get('lost', 'no reason given')}"
            )
        if event.header["type"] == "failed":
            raise ProblemError(event.header["message"])
        if event.header["type"] not in kinds:
            raise JudgeError(f"the comparing process answered {event.header['type']!r} where {kinds[0]!r} was due")
        return event.header, event.body


def _most_lanes(engine: Engine) -> int:
    """How many student workers judge one file; a spawned one takes longer to import torch than it saves."""
    return min(_MOST_LANES, processors()) if engine.forks else 1


def _check_cases(problem: Problem, cases: Sequence[str]) -> None:
    names = case_names(problem)
    for case in cases:
        if case not in names:
            close = difflib.get_close_matches(case, names, n=1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            raise UsageError(f"{problem.id} has no case {case!r}{meant} (cases: {', '.join(names)})")
