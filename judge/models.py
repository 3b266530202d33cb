"""The values that travel through the judge: problems on the way in, reports on the way out. All frozen."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = 1

Verdict = Literal[
    "accepted",
    "passed these cases",  # practice: chosen cases or a chosen seed
    "wrong answer",
    "runtime error",
    "time limit",
    "memory limit",
    "output limit",
    "closed function used",
    "invalid submission",
    "judge error",
]
CaseStatus = Literal[
    "passed", "wrong answer", "runtime error", "time limit", "memory limit", "output limit", "not reached"
]


class Value(BaseModel):
    """Base of all values: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Limits(Value):
    """What a submission may use. Seconds are wall-clock time, measured by the parent process."""

    import_seconds: float = Field(default=10.0, gt=0)
    call_seconds: float = Field(default=10.0, gt=0)
    submission_seconds: float = Field(default=60.0, gt=0)
    memory_mib: int = Field(default=1024, gt=0)
    output_kib: int = Field(default=64, gt=0)
    scratch_mib: int = Field(default=0, ge=0)  # a private folder to write to, for problems about files; 0: none


class EntryPoint(Value):
    """A name that a submission must define; ``signatures`` maps "" (a function), "__init__" or a method's name
    to its parameter list, as in ``(x, gamma, beta, eps=1e-5)``."""

    name: str
    kind: Literal["function", "class", "constant"]
    signatures: dict[str, str] = Field(default_factory=dict)


class StreamSettings(Value):
    """How a residual stream is shown: one label for each curve that the cases' ``stream`` function gives."""

    labels: tuple[str, ...]


class Problem(Value):
    """One folder of problems/, loaded and checked."""

    id: str
    folder: Path
    title: str
    kind: Literal["code", "answers", "tests"] = "code"  # answers: a file of literals; tests: a pytest file
    track: int = Field(ge=1)
    unit: str
    difficulty: Literal["easy", "medium", "hard"]
    prerequisites: tuple[str, ...] = ()
    points: int = Field(default=10, gt=0)
    entry_points: tuple[EntryPoint, ...]
    closed: tuple[str, ...] = ()  # dotted names, groups already resolved
    oracle: str | None = None  # module of reference/ that defines the same entry points
    contract: str | None = None  # of tests: the problem whose contract the tested implementations follow
    limits: Limits = Limits()
    inputs_shown: bool = True
    feedback: Literal["full", "hint", "verdict"] = "full"  # see judge/feedback.py
    stream: StreamSettings | None = None
    statement: str
    hints: tuple[str, str, str]  # symptom, area, idea


class Submission(Value):
    """A student's file, read once: the same bytes go to every check, to the worker and to the record."""

    path: Path
    source: bytes
    remarks: tuple[str, ...] = ()
    closed_uses: tuple[ClosedUse, ...] = ()
    answers: dict[str, Any] | None = None  # of a file of plain answers


class ClosedUse(Value):
    """A closed function that the code reached by name, or that the guard saw called."""

    name: str
    line: int | None = None


class HeatMap(Value):
    """Where a tensor is wrong, on its last two axes: at most 16 x 16 cells.

    ``values`` are log10 of an entry's |observed - expected| over the root mean square of its expected token, the
    largest over all other axes and over ``row_step`` x ``column_step`` entries; from -16 (equal, or nearly) to 6 (more,
    or not finite). ``tolerance`` is log10 of what is right.
    """

    rows: str  # the axes' names, in the plural: "tokens", "channels"
    columns: str
    others: tuple[str, ...] = ()  # the axes that a cell is the largest over
    row_step: int = 1
    column_step: int = 1
    values: tuple[tuple[float, ...], ...]
    tolerance: float


class Finding(Value):
    """One facet that is not as it should be: what (``facet``, ``subject``) and how (``message``)."""

    facet: str  # value, gradient, dtype, shape, structure, device, inputs unchanged, repeatable, error, ...
    subject: str  # "output", "gradient of x"
    message: str
    error: float | None = None  # relative error, where there is one
    line: int | None = None  # in the submission
    heat: HeatMap | None = None  # of the first failing value only, where inputs are shown


class CaseResult(Value):
    """What came of one case."""

    name: str
    sentence: str  # the case's docstring: what the student reads
    status: CaseStatus
    findings: tuple[Finding, ...] = ()
    remarks: tuple[str, ...] = ()
    error: float | None = None  # the largest relative error, also where it is small enough
    seconds: float | None = None
    printed: tuple[str, ...] = ()  # last lines that the submission wrote during the case
    inputs: str | None = None  # one line: what was called, with which shapes
    traceback: tuple[str, ...] = ()  # of the submission's own frames
    inside: str | None = None  # of a module: its first part that differs
    after: str | None = None  # of a case that was not reached: the failing one that it builds on


class Resemblance(Value):
    """A mutant that the submission behaves like."""

    mutant: str
    what: str
    idea: str
    part: str | None = None  # the entry point that behaves like it; None: the whole submission


class Diagnosis(Value):
    """Which seeded bugs a failing submission resembles, and how strongly; judge/diagnose.py says what is meant."""

    strength: Literal["exactly", "failing", "closest", "same cases"]
    mutants: tuple[Resemblance, ...]
    together: bool = False  # all of these bugs at once; otherwise each alone, or each its own part
    share: float | None = None  # of the failing cases that are explained, where it is not all of them


class SublayerCurve(Value):
    """The root mean square of what one kind of sublayer adds to the stream, in block 1, 2, ..."""

    name: str
    norms: tuple[float | None, ...]
    reference: tuple[float, ...]


class StreamCurve(Value):
    """The residual stream by depth, root mean square and L2 norm of its gradient, the student's and the reference's."""

    label: str
    depths: tuple[int, ...]
    norms: tuple[float | None, ...]  # None where the student's stream is missing or not finite
    reference: tuple[float, ...]
    gradients: tuple[float | None, ...] = ()
    reference_gradients: tuple[float, ...] = ()
    contributions: tuple[float | None, ...] = ()  # root mean square of what block 1, 2, ... changes: one fewer
    reference_contributions: tuple[float, ...] = ()
    sublayers: tuple[SublayerCurve, ...] = ()  # the same for each kind of sublayer, where they were measured
    exponent: float | None = None  # of the fitted power of depth; None where the stream is not finite everywhere
    reference_exponent: float | None = None
    sentence: str
    gradient_sentence: str = ""

    def gradient_curve(self) -> StreamCurve:
        """The gradients as a curve of their own."""
        return self.model_copy(update={"norms": self.gradients, "reference": self.reference_gradients})

    def addition_curves(self) -> dict[str, StreamCurve]:
        """What each kind of sublayer adds, or else each block, as curves of their own from depth 1, by their titles."""
        added = {f"what {part.name} adds": (part.norms, part.reference) for part in self.sublayers}
        added = added or {"what each block adds": (self.contributions, self.reference_contributions)}
        depths = self.depths[1:]
        return {
            title: self.model_copy(update={"norms": norms, "reference": reference, "depths": depths})
            for title, (norms, reference) in added.items()
            if reference
        }


class Growth(Value):
    """Least and greatest exponent of a stream's growth over several draws."""

    label: str
    own: tuple[float, float] | None
    reference: tuple[float, float] | None


class StreamReport(Value):
    """What `judge stream` measured."""

    problem: str
    title: str
    file: str
    seed: int
    curves: tuple[StreamCurve, ...]
    growth: tuple[Growth, ...]
    prediction: tuple[str, str]  # where the orders differ at initialization: in activations, in gradients


class Bug(Value):
    """A seeded bug that a file of tests is to notice: named only once it is, otherwise by the behaviour it breaks."""

    behaviour: str
    mutant: str | None = None
    caught_by: str | None = None  # the test that failed on it
    what: str | None = None
    idea: str | None = None
    remark: str | None = None  # of one that no test failed on: how the run ended, where it did not end by itself


class Thoroughness(Value):
    """The kill matrix: which test is the first of its run to fail on each bug."""

    tests: tuple[str, ...]  # that count: those which pass on every correct implementation
    bugs: tuple[Bug, ...]
    correct: int  # implementations on which every test has to pass
    advice: str | None = None  # on the first behaviour that is not fully tested

    @property
    def caught(self) -> int:
        return sum(bug.caught_by is not None for bug in self.bugs)


class Environment(Value):
    """What a verdict was reached on."""

    python: str
    torch: str
    platform: str
    isolation: str
    judge: str


class Report(Value):
    """The one record of a judging; every format of report/ is written from it."""

    schema_version: int = SCHEMA_VERSION
    problem: str
    title: str
    file: str
    source_sha256: str | None = None
    verdict: Verdict
    practice: bool = False
    seed: int | None = None
    message: str | None = None  # an invalid submission's or a judge error's one sentence
    line: int | None = None
    column: int | None = None
    line_text: str | None = None
    points: int = 0
    max_points: int = 0
    cases: tuple[CaseResult, ...] = ()
    closed: tuple[ClosedUse, ...] = ()
    remarks: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()  # while the file was imported
    diagnosis: Diagnosis | None = None
    stream: tuple[StreamCurve, ...] = ()
    thoroughness: Thoroughness | None = None  # of a file of tests
    environment: Environment | None = None
    seconds: float = 0.0
    import_seconds: float | None = None
    peak_mib: float | None = None
    source: bytes | None = Field(default=None, exclude=True, repr=False)  # for the record, in no format

    @property
    def failed(self) -> tuple[CaseResult, ...]:
        return tuple(case for case in self.cases if case.status not in ("passed", "not reached"))

    @property
    def passed(self) -> tuple[CaseResult, ...]:
        return tuple(case for case in self.cases if case.status == "passed")

    @property
    def exit_code(self) -> int:
        """0 accepted, 1 not accepted, 2 nothing could be judged, 3 a judge error."""
        if self.verdict in ("accepted", "passed these cases"):
            return 0
        return {"invalid submission": 2, "judge error": 3}.get(self.verdict, 1)


Submission.model_rebuild()
