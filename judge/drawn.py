"""A problem on the oracle side, drawn once: its cases, calls as bytes, what the reference gives, and verdicts.

cases.py --draw--> calls --run--> expected observations        observed --compare--> outcomes of the cases
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from judge.authoring import BETWEEN, Call, Case, Check
from judge.compare import Comparison, Difference, compare, same_form
from judge.draws import Draw, case_generator
from judge.errors import ProblemError
from judge.labels import Labels, describe_call
from judge.observation import Observation, from_parts
from judge.processes import device, runner, wire, without_data
from judge.program import Program, ScratchPath

DEPTH = 16  # of the streams that are measured with every submission, without gradients
_SWEEP = 24  # steps
POOL_SIZE = 4099  # a prime, so that the repeating pool meets the rows of a tensor at other places


@dataclass(frozen=True, slots=True)
class DrawnCall:
    """One call: its program, its bytes, and what it is called in messages."""

    number: int
    case: str
    program: Program
    data: bytes
    label: Callable[[str], str]
    description: str
    form_only: bool = False  # of a relation: its values are the check's


@dataclass(frozen=True, slots=True)
class DrawnCase:
    """One case with its calls; ``check`` is a relation's."""

    name: str
    sentence: str
    calls: tuple[DrawnCall, ...]
    check: Check | None = None
    after: tuple[str, ...] = ()  # earlier cases that it builds on

    @property
    def entries(self) -> set[str]:
        return {call.program.entry for call in self.calls}

    @property
    def raises(self) -> bool:
        return any(call.program.raises for call in self.calls)


@dataclass(slots=True)
class Outcome:
    """What came of one case: nothing in ``differences`` means that it passed."""

    differences: list[Difference] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    worst: float = 0.0
    failure: str | None = None  # runtime error, memory limit or output limit, where a call raised
    traceback: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.differences

    @property
    def complaints(self) -> list[str]:
        return [f"{difference.subject} {difference.message}" for difference in self.differences]

    @property
    def severity(self) -> float:
        """How clearly a failing case fails: the largest error, infinite where the difference is no number."""
        return max((difference.error for difference in self.differences), default=0.0)


class DrawnProblem:
    """Everything that is known of a problem before a submission's first observation."""

    def __init__(
        self,
        folder: Path,
        name: str,
        seed: int,
        signatures: dict[str, dict[str, str]],
        only: Sequence[str],
        depth: int | None = None,
    ):
        self.folder = folder
        self.depth = depth
        self.id = name
        self.labels = Labels(signatures)
        self.reference = load(folder / "hidden" / "reference.py")
        self.pool = torch.randn(POOL_SIZE, generator=case_generator(seed, name, ""), dtype=torch.float64)
        self.calls: list[DrawnCall] = []
        self.cases: list[DrawnCase] = []
        self.streams: dict[str, DrawnCall] = {}
        self.expected: dict[int, Observation] = {}
        self._kinds: set[Any] = set()
        self._only = only
        self.whole = not only
        for case in _cases(folder, name):
            if not only or case.name in only:
                self._draw(case, seed)

    def run_reference(self) -> None:
        """Fill ``expected``; raises ProblemError where the reference itself fails."""
        for call in self.calls:
            expected = self._expect(call)
            if expected.error and not set(expected.error.bases).intersection((call.program.raises or "").split(" or ")):
                raise ProblemError(f"{self._at(call.case)}: the reference raises {expected.error}")
            if call.program.raises and not expected.error:
                raise ProblemError(
                    f"{self._at(call.case)}: the reference returns where {call.program.raises} is asked for"
                )
            if call.program.dtype != "float64":
                expected = self._in_double(call, expected)
            self.expected[call.number] = expected

    def observe(self, namespace: dict[str, Any], call: DrawnCall) -> Observation:
        """What trusted code gives for a call, through the same runner as a submission."""
        extras = {"device": device.run_on_fake_device}
        return from_parts(runner.observe(namespace, call.data, self.pool, extras))

    def results(self, namespace: dict[str, Any], call: DrawnCall) -> Observation:
        """What trusted code gives in one run: values and gradients, or an error."""
        return from_parts(runner.results(namespace, call.data, self.pool))

    def glance(self, namespace: dict[str, Any], decode: Callable[[], Program]) -> Observation:
        """What trusted code gives in one bare run: its values, or its error."""
        error, values = runner.glance(namespace, decode)
        return from_parts({"error": error}) if error else Observation(values=values)

    def compare(self, call: DrawnCall, observed: Observation) -> Comparison:
        """Compare what a call gave with what it should give."""
        comparer = same_form if call.form_only else compare
        return comparer(observed, self.expected[call.number], call.program, call.label)

    def judge_case(
        self, case: DrawnCase, observations: Sequence[Observation], compared: Mapping[int, Comparison] | None = None
    ) -> Outcome:
        """Bring together what was found about a case's calls, and check a relation."""
        outcome = Outcome()
        for call, observed in zip(case.calls, observations, strict=True):
            result = compared[call.number] if compared else self.compare(call, observed)
            outcome.differences += result.differences
            outcome.remarks += result.remarks
            outcome.worst = max(outcome.worst, result.worst)
            if observed.error and not outcome.failure:
                outcome.failure = _failure_status(observed, call.program)
                outcome.traceback = observed.error.traceback
            elif not outcome.traceback:
                outcome.traceback = next(
                    (f.traceback for f in (observed.gradient_error, observed.repeat_error) if f), ()
                )
        if case.check and outcome.passed:
            outcome.differences += self._check(case.check, observations)
        outcome.differences = _unique(outcome.differences)
        outcome.remarks = list(dict.fromkeys(outcome.remarks))
        return outcome

    def _draw(self, case: Case, seed: int) -> None:
        draw = Draw(case_generator(seed, self.id, case.name))
        with self._blame(case.name):
            if case.is_stream:
                drawn = case.draw(draw, self.depth or DEPTH, self.depth is not None)
                for label, call in drawn.items():
                    depths = sum(not (step.observe or BETWEEN).startswith(BETWEEN) for step in call.program.steps)
                    if depths < 3:
                        raise ValueError(f"stream {label!r} has {depths} depths; observe at least three")
                    self.streams[label] = self._add(case, call, stream=True)
                return
            drawn = case.draw(draw)
            calls, check = drawn if case.is_relation else (drawn, None)
            calls = [calls] if isinstance(calls, Call) else calls
            if case.is_relation:
                calls = [call._with(light=True) for call in calls]
            own = tuple(self._add(case, call, form_only=case.is_relation) for call in calls)
            self.cases.append(DrawnCase(case.name, case.sentence, own, check, self._after(case, own)))

    def _after(self, case: Case, calls: Sequence[DrawnCall]) -> tuple[str, ...]:
        """The cases that it names, and the first one of each entry point that it calls."""
        earlier = {one.name: one for one in self.cases}
        for name in case.after:
            if name not in earlier and not self._only:
                raise ValueError(f"after = {name!r} names no earlier case")
        first: dict[str, str] = {}
        for one in sorted(self.cases, key=lambda one: len(one.entries)):  # stable: of those about one entry the first
            for entry in one.entries if not one.raises else ():
                first.setdefault(entry, one.name)
        functions = [call for call in calls if call.program.steps[0].kind != "constant"]
        own = (first[call.program.entry] for call in functions if call.program.entry in first)
        return tuple(dict.fromkeys((*(name for name in case.after if name in earlier), *own)))

    def _add(self, case: Case, call: Call, *, form_only: bool = False, stream: bool = False) -> DrawnCall:
        program = in_dtype(call.program)
        if stream:  # a depth that is asked for is measured with its gradients
            program = replace(program, extras=("stream",), light=self.depth is None)
        else:
            program = replace(program, extras=self._extras(program))
        data = wire.encode_call(program)
        label = self.labels.of(program)
        drawn = DrawnCall(len(self.calls), case.name, program, data, label, describe_call(program), form_only)
        self.calls.append(drawn)
        return drawn

    def _extras(self, program: Program) -> tuple[str, ...]:
        """Further untimed runs: for the first call of each entry point and set of given arguments, or of each dtype."""
        if program.raises or (program.light and len(program.steps) > _SWEEP):
            return ()  # of a sweep the first call of each kind is elsewhere
        kind = _kind(program)
        full = (*kind, "full")
        seen = kind if program.light else full
        watched = self._watched(program)
        if seen in self._kinds:
            return watched
        self._kinds.update((kind, seen))
        again = () if program.light else ("again", *self._apart(program))
        return (*again, "closed" if _about_files(program) else "device", *watched)  # what a file holds is on the CPU

    def _apart(self, program: Program) -> tuple[str, ...]:
        """Once of each entry point whose inputs alone say what needs a gradient."""
        own = any(step.kind in ("leaf", "given", "gradients", "sgd_step") for step in program.steps)
        if own or ("apart", program.entry) in self._kinds:
            return ()
        self._kinds.add(("apart", program.entry))
        return ("apart",)

    def _watched(self, program: Program) -> tuple[str, ...]:
        """Once of each entry point and dtype, and once more where dropout acts."""
        kind = (program.entry, program.dtype, program.random)
        if kind in self._kinds or (program.light and program.dtype == "float64" and not program.random):
            return ()
        self._kinds.add(kind)
        return ("watched",)

    def _expect(self, call: DrawnCall) -> Observation:
        raw = runner.results(self.reference, call.data, self.pool)
        return replace(from_parts(raw), scales=raw.get("scales", {}))

    def _in_double(self, call: DrawnCall, low: Observation) -> Observation:
        """Expected values from the same rounded inputs, computed in float64, in the dtypes of the low run."""
        double = replace(call, data=wire.encode_call(in_dtype(replace(call.program, dtype="float64"))))
        exact = self._expect(double)
        values = {name: _like(value, low.values[name]) for name, value in exact.values.items()}
        return replace(exact, values=values, detached=low.detached, untouched=low.untouched, infinite=low.infinite)

    def _check(self, check: Check, observations: Sequence[Observation]) -> list[Difference]:
        try:
            complaint = check([observation.values for observation in observations])
        except Exception as exc:  # an author's check met values that it did not foresee, such as NaN
            return [Difference("relation", "the results", f"can't be compared ({type(exc).__name__}: {exc})")]
        return [Difference("relation", "the results", complaint)] if isinstance(complaint, str) else []

    def _at(self, case: str) -> str:
        return f"problems/{self.id}/cases.py: case {case!r}"

    @contextlib.contextmanager
    def _blame(self, case: str) -> Iterator[None]:
        try:
            yield
        except Exception as exc:
            line = next((f.lineno for f in reversed(traceback.extract_tb(exc.__traceback__)) if f.name == case), None)
            where = f" (line {line})" if line else ""
            raise ProblemError(f"{self._at(case)} raises {type(exc).__name__}{where}: {exc}") from exc


def load(path: Path, source: str | None = None) -> dict[str, Any]:
    """Execute trusted code; gives its namespace. Raises ProblemError if it fails."""
    namespace: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    try:
        source = source or path.read_text(encoding="utf-8")
        without_data.import_for(source)
        exec(compile(source, str(path), "exec", dont_inherit=True), namespace)
    except Exception as exc:
        raise ProblemError(f"{_short_path(path)}: raises {type(exc).__name__} when it is loaded: {exc}") from exc
    return namespace


def in_dtype(program: Program) -> Program:
    """The program with every drawn floating tensor in the program's dtype."""
    dtype = wire.DTYPES[program.dtype]
    if dtype is torch.float64 and not any(_has_low(step.args) or _has_low(step.kwargs) for step in program.steps):
        return program
    steps = tuple(
        replace(step, args=_cast(step.args, dtype), kwargs=_cast(step.kwargs, dtype)) for step in program.steps
    )
    return replace(program, steps=steps)


def _cases(folder: Path, problem: str) -> list[Case]:
    cases = [value for value in load(folder / "cases.py").values() if isinstance(value, Case)]
    for case in cases:
        if not case.sentence:
            raise ProblemError(
                f"problems/{problem}/cases.py: case {case.name!r} has no docstring; "
                "write what the student should read when it fails"
            )
    if not any(not case.is_stream for case in cases):
        raise ProblemError(f"problems/{problem}/cases.py: there is no case; write functions under @case or @relation")
    return cases


def _kind(program: Program) -> tuple[Any, ...]:
    return tuple(
        (step.kind, step.name, _given(step.args), _given(step.kwargs))
        for step in program.steps
        if step.kind in ("function", "construct", "apply", "method", "train", "eval")
    )


def _about_files(program: Program) -> bool:
    values = (value for step in program.steps for value in (*step.args, *step.kwargs.values()))
    return any(isinstance(value, ScratchPath) for value in values)


def _given(value: Any) -> Any:
    """What of it is given: code may take another way where a mask has another rank, or an activation another name."""
    if isinstance(value, torch.Tensor):
        return value.dim()
    if isinstance(value, dict):
        return tuple(sorted((str(key), _given(part)) for key, part in value.items() if part is not None))
    if isinstance(value, (list, tuple)):
        return tuple(map(_given, value))
    return value if isinstance(value, (str, bool)) else value is not None


def _failure_status(observed: Observation, program: Program) -> str | None:
    if observed.error is None or program.raises or observed.error.kind in ("state", "missing"):
        return None
    return {"memory": "memory limit", "output": "output limit"}.get(observed.error.kind, "runtime error")


def _unique(differences: list[Difference]) -> list[Difference]:
    return list({(d.facet, d.subject, d.message): d for d in differences}.values())


def _has_low(value: Any) -> bool:
    return any(_contains_low(part) for part in (value.values() if isinstance(value, dict) else value))


def _contains_low(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return value.is_floating_point() and value.dtype is not torch.float64
    return _has_low(value) if isinstance(value, (dict, list, tuple)) else False


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: _cast(part, dtype) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_cast(part, dtype) for part in value)
    return value


def _like(value: Any, pattern: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(pattern.dtype)
    if isinstance(value, dict):
        return {key: _like(part, pattern[key]) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_like(part, other) for part, other in zip(value, pattern, strict=True))
    return value


def _short_path(path: Path) -> str:
    parts = path.parts
    return "/".join(parts[parts.index("problems") :]) if "problems" in parts else str(path)
