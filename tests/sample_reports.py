"""Reports of the kinds that students meet, built by hand: what the writers' golden files are written from."""

from __future__ import annotations

from judge.models import (
    Bug,
    CaseResult,
    CaseStatus,
    ClosedUse,
    Diagnosis,
    Environment,
    Finding,
    HeatMap,
    Report,
    Resemblance,
    StreamCurve,
    Thoroughness,
    Verdict,
)

ENVIRONMENT = Environment(
    python="3.11.7", torch="2.13.0", platform="Linux-6.1-x86_64", isolation="process (forked)", judge="0.1.0"
)
SENTENCES = {
    "plain": "normalizes each row to mean 0 and variance 1",
    "tiny_inputs": "is right where the variance is as small as eps",
    "shifted_rows": "stays accurate where the mean is large against the spread",
    "no_leading_dimensions": "takes a single row without leading dimensions",
    "strided_input": "gives the same for a non-contiguous input",
    "other_eps": "uses the eps that it is given",
}


def case(name: str, status: CaseStatus = "passed", **fields: object) -> CaseResult:
    values = {"sentence": SENTENCES[name], "seconds": 0.0021, "inputs": "layer_norm_forward(x (2, 5, 7), gamma (7,))"}
    return CaseResult.model_validate({"name": name, "status": status, **values, **fields})


def report(verdict: Verdict, cases: tuple[CaseResult, ...] = (), **fields: object) -> Report:
    values = {
        "problem": "layer-norm",
        "title": "Layer normalization",
        "file": "submissions/layer-norm.py",
        "source_sha256": "9f" * 32,
        "points": 10 if verdict == "accepted" else 0,
        "max_points": 10,
        "seed": 2894731,
        "environment": ENVIRONMENT,
        "seconds": 1.234,
        "import_seconds": 0.01,
        "peak_mib": 241.5,
    }
    return Report.model_validate({"verdict": verdict, "cases": cases, **values, **fields})


def accepted_with_stream() -> Report:
    depths = tuple(range(17))
    curves = (
        StreamCurve(
            label="pre-norm", depths=depths, norms=tuple(0.98 * (1 + depth) ** 0.9 for depth in depths),
            reference=tuple(0.98 * (1 + depth) ** 0.9 for depth in depths),
            gradients=tuple(9.0 - depth / 2 for depth in depths), contributions=(0.9,) * 16,
            reference_gradients=tuple(9.0 - depth / 2 for depth in depths), reference_contributions=(0.9,) * 16,
            gradient_sentence="the gradient arrives at the first block 9 times as large as when it leaves the last",
            sentence="grows like depth^0.9, as the reference does: nothing on the residual path is normalized",
        ),
        StreamCurve(
            label="post-norm", depths=depths, gradients=(0.5,) * 17, reference_gradients=(0.5,) * 17,
            contributions=(0.9,) * 16, reference_contributions=(0.9,) * 16, gradient_sentence="no change", norms=(0.98, *(1.0,) * 16), reference=(0.98, *(1.0,) * 16),
            sentence="stays at 1 from depth 1 on, as the reference does: a post-norm block ends in a norm",
        ),
    )  # fmt: skip
    remarks = ("your code computes in float32 inside; float64 inputs lose precision",)
    return report(
        "accepted", tuple(case(name) for name in SENTENCES), problem="pre-norm-vs-post-norm", title="Pre or post",
        file="submissions/pre_norm_vs_post_norm.py", points=30, max_points=30, stream=curves, remarks=remarks,
    )  # fmt: skip


def wrong_answer_with_diagnosis() -> Report:
    heat = HeatMap(
        rows="tokens", columns="channels", others=("batch rows",), row_step=1, column_step=2, tolerance=-5.0,
        values=((-16.0, -15.7, -16.0), (-16.0, -4.5, -2.5), (-1.5, -0.54, 0.3)),
    )  # fmt: skip
    output = "differs by 0.29 of its norm, first at token 3"
    findings = (
        Finding(facet="value", subject="output", message=output, error=0.29, heat=heat),
        Finding(facet="gradient", subject="gradient of x", message="differs by 3.1 of its norm", error=3.1),
    )  # fmt: skip
    diagnosis = Diagnosis(
        strength="exactly",
        mutants=(
            Resemblance(
                mutant="eps_outside_the_root",
                what="adds eps outside the square root",
                idea="eps keeps the variance away from zero, so it belongs under the root",
            ),
        ),
    )
    printed = ("variance 1.1e-06", "\x1b[31mroot [bold]0.001\x1b[0m")
    cases = (
        case("plain"),
        case("tiny_inputs", "wrong answer", findings=findings, printed=printed),
        case("shifted_rows"),
        case("no_leading_dimensions"),
        case("strided_input"),
        case("other_eps", "wrong answer", findings=(findings[0].model_copy(update={"heat": None}),)),
    )  # fmt: skip
    return report("wrong answer", cases, diagnosis=diagnosis, file="my answers/layer norm.py")


def runtime_error() -> Report:
    finding = Finding(
        facet="error", subject="layer_norm_forward", line=14,
        message="RuntimeError: the size of tensor a (7) must match the size of tensor b (5) at dimension 2",
    )  # fmt: skip
    frames = ("line 22, in layer_norm_forward", "    return scale(x)", "line 14, in scale", "    return x * gamma.T")
    cases = (
        case("plain", "runtime error", findings=(finding,), traceback=frames),
        *(case(name, "not reached", seconds=None) for name in list(SENTENCES)[1:]),
    )  # fmt: skip
    return report("runtime error", cases)


def time_limit() -> Report:
    finding = Finding(facet="time", subject="layer_norm_forward", message="gave no answer within 5 s")
    cases = (
        case("plain"),
        case("tiny_inputs", "time limit", findings=(finding,), printed=tuple(f"step {n}" for n in range(20))),
        case("shifted_rows", "time limit", findings=(finding,)),
        *(case(name, "not reached", seconds=None) for name in list(SENTENCES)[3:]),
    )
    message = (
        "cases run in a random order; shifted_rows and then tiny_inputs gave no answer, so 3 cases that come after were "
        "not reached"
    )
    return report("time limit", cases, seconds=11.5, message=message)


def invalid_submission() -> Report:
    return report(
        "invalid submission", source_sha256=None, message="this is no Python: '(' was never closed", line=9, column=18,
        line_text="    mean = x.mean(dim=-1, keepdim=True", environment=None, seed=None, peak_mib=None, seconds=0.004,
    )  # fmt: skip


def closed_function_used() -> Report:
    closed = (ClosedUse(name="torch.nn.functional.layer_norm", line=8), ClosedUse(name="torch.layer_norm"))
    cases = tuple(case(name) for name in SENTENCES)
    return report("closed function used", cases, closed=closed)


def root_cause_first() -> Report:
    findings = (
        Finding(
            facet="value", subject="output",
            message="differs in 10 of 10 rows (relative error 0.41 in the worst row), first at [0, 0, 0]: 1.2 instead of 0.7",
        ),
        Finding(facet="gradient", subject="gradient of x", message="is off (relative error 0.33)"),
    )  # fmt: skip
    inside = "norm1 and attention still give what they should, then norm2 gets something else"
    held_back = {"findings": (findings[0],), "after": "plain"}
    cases = (
        case("plain", "wrong answer", findings=findings, inside=inside),
        *(case(name, "not reached", **held_back) for name in list(SENTENCES)[1:4]),
        *(case(name) for name in list(SENTENCES)[4:]),
    )
    named = Resemblance(
        mutant="residual_from_the_first_norm", what="takes the residual from the normalized stream",
        idea="the residual path carries the stream itself past the norm",
    )  # fmt: skip
    return report("wrong answer", cases, diagnosis=Diagnosis(strength="closest", mutants=(named,), share=0.75))


def two_bugs() -> Report:
    finding = Finding(
        facet="value", subject="output", message="differs in 1 of 2 rows, first at [0, 1]: -0.5 instead of 0.5"
    )
    mutants = (
        Resemblance(mutant="eps_forgotten", what="leaves eps out", idea="eps keeps the root away from zero"),
        Resemblance(mutant="beta_forgotten", what="adds no beta", idea="the shift is learned"),
    )
    cases = (
        case("plain"),
        case("tiny_inputs", "wrong answer", findings=(finding,)),
        case("other_eps", "wrong answer", findings=(finding,)),
    )
    return report("wrong answer", cases, diagnosis=Diagnosis(strength="exactly", mutants=mutants, together=True))


def memory_limit() -> Report:
    finding = Finding(
        facet="memory", subject="layer_norm_forward", line=7,
        message="MemoryError: more than 2048 MiB were asked for; look at the sizes of what is made in line 7",
    )  # fmt: skip
    cases = (
        case("plain"),
        case("shifted_rows", "memory limit", findings=(finding,), remarks=("a remark on this case",)),
        case("no_leading_dimensions", "not reached", seconds=None),
    )
    return report("memory limit", cases, peak_mib=2310.2, remarks=("importing the file seeds the generator",))


def tests_with_gaps() -> Report:
    refused = Finding(
        facet="validity", subject="refuses a correct implementation that computes in float32 inside",
        message="AssertionError: Tensor-likes are not close!; Mismatched elements: 30 / 30 (100.0%)", line=31,
    )  # fmt: skip
    twice = Finding(
        facet="validity", subject="depends on the tests before it",
        message="passes only in the file's order; AssertionError: assert []", line=52,
    )  # fmt: skip
    sentence = "is to pass on every correct implementation"
    cases = (
        CaseResult(name="test_values", sentence="The output is what the formula says.", status="passed"),
        CaseResult(name="test_rounding[float64]", sentence=sentence, status="wrong answer", findings=(refused,)),
        CaseResult(name="test_again", sentence=sentence, status="wrong answer", findings=(twice,)),
        CaseResult(name="test_masks", sentence=sentence, status="passed"),
    )
    named = {"mutant": "scale_forgotten", "what": "leaves the scores unscaled", "idea": "the width matters"}
    bugs = (
        *(Bug(behaviour="values", caught_by="test_values", **named) for _ in range(3)),
        Bug(behaviour="masks", caught_by="test_masks", **named),
        Bug(behaviour="masks", remark="only a test that is not valid failed"),
        Bug(behaviour="fully masked rows and their gradients", remark="no test failed: no end after 5 s"),
        Bug(behaviour="errors"),
    )
    found = Thoroughness(
        tests=("test_values", "test_masks"), bugs=bugs, correct=8,
        advice="masks: give masks of every rank and shape that the contract allows",
    )  # fmt: skip
    return report(
        "wrong answer", cases, problem="attention-tests", title="Tests of attention", seed=None, thoroughness=found,
        file="submissions/attention-tests.py", message="2 of 4 tests are not valid; 4 of 7 bugs are noticed",
    )  # fmt: skip


SAMPLES = {
    "accepted_with_stream": accepted_with_stream(),
    "wrong_answer_with_diagnosis": wrong_answer_with_diagnosis(),
    "runtime_error": runtime_error(),
    "time_limit": time_limit(),
    "invalid_submission": invalid_submission(),
    "closed_function_used": closed_function_used(),
    "root_cause_first": root_cause_first(),
    "two_bugs": two_bugs(),
    "memory_limit": memory_limit(),
    "tests_with_gaps": tests_with_gaps(),
}
