"""A problem on the oracle side: the same seed draws the same calls, the reference is run, cases are judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from wording import assert_reads_well
from written_problem import drawn, write

from judge.drawn import in_dtype, load
from judge.errors import ProblemError
from judge.observation import Failure
from judge.program import Program, Step

DOUBLE = "def f(x, y=None):\n    return 2 * x\n"
PLAIN = """
@case
def plain(draw):
    "doubles"
    return call("f", draw.normal(2, 3))
"""
SEVERAL = (
    PLAIN
    + """
@case
def two_calls(draw):
    "doubles twice"
    return [call("f", draw.normal(2)), call("f", draw.normal(3), y=1)]

@relation
def linear(draw):
    "is linear"
    x = draw.normal(4)

    def check(observations):
        one, other = (o["output"] for o in observations)
        return None if same(3 * one, other) else "three times the input is not three times the output"

    return [call("f", x), call("f", 3 * x)], check

@stream
def depths(draw, depth, inside):
    "streams"
    one = Call()
    for depth in range(3):
        one.function("f", draw.normal(2)).observe(str(depth))
    return {"one": one}
"""
)


@pytest.fixture
def problem(tmp_path):
    """Draw a problem that is made of these cases and this reference."""

    def make(cases, reference=DOUBLE, **how):
        return drawn(write(tmp_path, cases, reference), **how)

    return make


def judged(problem, name, source=DOUBLE):
    """The outcome of one case for a submission."""
    case = next(case for case in problem.cases if case.name == name)
    namespace = load(Path("submission.py"), "import torch\n" + source)
    return problem.judge_case(case, [problem.observe(namespace, call) for call in case.calls])


def complaint(make, *args, **kwargs):
    with pytest.raises(ProblemError) as caught:
        make(*args, **kwargs)
    assert_reads_well(str(caught.value))
    return str(caught.value)


# Drawing


def test_cases_calls_and_streams_are_drawn_in_their_order(problem):
    drawn = problem(SEVERAL)
    assert [(case.name, case.sentence, len(case.calls)) for case in drawn.cases] == [
        ("plain", "doubles", 1), ("two_calls", "doubles twice", 2), ("linear", "is linear", 2),
    ]  # fmt: skip
    assert [call.number for call in drawn.calls] == list(range(6))
    assert drawn.streams["one"] is drawn.calls[5]
    assert set(drawn.expected) == set(range(6))
    assert [call.description for call in drawn.calls[:3]] == ["f((2, 3))", "f((2,))", "f((3,), y=1)"]


def test_the_same_seed_draws_the_same_bytes_whatever_else_runs(problem):
    whole, again, other = problem(SEVERAL, seed=3), problem(SEVERAL, seed=3), problem(SEVERAL, seed=4)
    assert [call.data for call in whole.calls] == [call.data for call in again.calls]
    assert whole.pool.equal(again.pool)
    assert not whole.pool.equal(other.pool)
    assert all(one.data != two.data for one, two in zip(whole.calls, other.calls, strict=True))
    alone = problem(SEVERAL, seed=3, only=("linear",))
    assert [case.name for case in alone.cases] == ["linear"]
    assert alone.streams == {}
    one, two = (drawn.calls[number].program.steps[0].args[0] for drawn, number in ((whole, 3), (alone, 0)))
    assert one.equal(two)


def test_the_first_call_of_each_kind_gets_the_further_runs(problem):
    extras = [bool(call.program.extras) for call in problem(SEVERAL).calls]
    assert extras == [True, True, True, False, False, True]  # other ranks, other arguments


def test_the_first_call_of_each_entry_point_and_dtype_is_watched(problem):
    cases = """
    @case
    def several(draw):
        "is right"
        low = call("f", draw.normal(2)).in_dtype(torch.float32)
        return [call("f", draw.normal(2)), call("f", draw.normal(2, 2)), low, call("f", draw.normal(3)), low, call("g", draw.normal(2))]
    """
    calls = problem(cases, DOUBLE + "\n\ndef g(x):\n    return 2 * x\n").calls
    assert ["watched" in call.program.extras for call in calls] == [True, False, True, False, False, True]


def test_light_calls_are_only_looked_at_elsewhere_and_errors_not_at_all(problem):
    cases = """
    @relation
    def form(draw):
        "has the right form"
        return [call("f", draw.normal(2))], lambda observations: None

    @case
    def others(draw):
        "is right"
        light = call("f", draw.normal(2)).values_only()
        return [light, call("g", draw.normal(2)).raises(ValueError), call("f", draw.normal(2)), call("f", draw.normal(2))]
    """
    reference = DOUBLE + "\n\ndef g(x):\n    raise ValueError\n"
    extras = [call.program.extras for call in problem(cases, reference).calls]
    assert extras == [("device",), (), (), ("again", "apart", "device", "watched"), ()]


def test_what_needs_gradients_by_itself_is_not_held_apart(problem):
    cases = """
    @case
    def leaves(draw):
        "is right"
        one = Call()
        one.function("f", one.leaf(draw.normal(2))).observe("output")
        return [one, call("f", draw.normal(2, 3)), call("f", draw.normal(2, 3), 1)]
    """
    extras = [call.program.extras for call in problem(cases, run=False).calls]
    assert ["apart" in asked for asked in extras] == [False, True, False]


def test_a_call_about_files_is_not_looked_at_elsewhere(problem):
    cases = """
    from judge.authoring import ScratchPath

    @case
    def kept(draw):
        "is right"
        kept = ScratchPath("kept")
        return [call("f", draw.normal(2), kept), call("f", draw.normal(2), path=kept).values_only()]
    """
    assert [call.program.extras for call in problem(cases, run=False).calls] == [
        ("again", "apart", "closed", "watched"),
        ("closed",),
    ]


def test_relations_and_streams_are_light_and_cases_are_not(problem):
    assert [call.program.light for call in problem(SEVERAL).calls] == [False] * 3 + [True] * 3


def test_drawn_tensors_get_the_dtype_of_the_call():
    x = torch.randn(2, dtype=torch.float64)
    program = Program((Step("function", "f", args=(x, [x, (x,)], torch.arange(2)), kwargs={"s": {"k": x}, "n": 3}),))
    assert in_dtype(program) is program
    (step,) = in_dtype(replace(program, dtype="bfloat16")).steps
    tensors = [step.args[0], step.args[1][0], step.args[1][1][0], step.kwargs["s"]["k"]]
    assert [tensor.dtype for tensor in tensors] == [torch.bfloat16] * 4
    assert step.args[2].dtype is torch.int64
    assert step.kwargs["n"] == 3
    (step,) = in_dtype(Program((Step("function", "f", args=([x.float()],)),))).steps
    assert step.args[0][0].dtype is torch.float64


# What an author may get wrong


def test_a_case_without_a_docstring_is_named(problem):
    said = complaint(problem, "@case\ndef plain(draw):\n    return call('f', 1)\n")
    assert said.startswith("problems/written/cases.py: case 'plain' has no docstring")


def test_a_file_without_cases_is_named(problem):
    assert "there is no case" in complaint(problem, "")
    assert "there is no case" in complaint(
        problem, "@stream\ndef s(draw, depth, inside):\n    'doubles'\n    return {}\n"
    )


def test_a_case_that_raises_is_named_with_its_line(problem):
    said = complaint(problem, "@case\ndef plain(draw):\n    'doubles'\n    return call('f', draw.integer(2, 3) / 0)\n")
    assert said == "problems/written/cases.py: case 'plain' raises ZeroDivisionError (line 7): division by zero"


def test_a_case_that_gives_no_call_is_named(problem):
    assert "case 'plain' raises" in complaint(problem, "@case\ndef plain(draw):\n    'doubles'\n    return 3\n")
    assert "case 'plain' raises" in complaint(
        problem, "@relation\ndef plain(draw):\n    'doubles'\n    return call('f')\n"
    )


def test_a_stream_that_is_too_short_to_grow_is_named(problem):
    said = complaint(problem, SEVERAL.replace("range(3)", "range(2)"))
    assert said.startswith("problems/written/cases.py: case 'depths' raises ValueError")
    assert said.endswith("stream 'one' has 2 depths; observe at least three")


def test_files_that_don_t_load_are_named(problem):
    assert complaint(problem, "1 / 0").startswith(
        "problems/written/cases.py: raises ZeroDivisionError when it is loaded"
    )
    said = complaint(problem, PLAIN, reference="import nothing_of_that_name\n")
    assert said.startswith("problems/written/hidden/reference.py: raises ModuleNotFoundError when it is loaded")
    assert "raises SyntaxError" in complaint(problem, PLAIN, reference="def f(:\n")


def test_a_reference_that_raises_is_the_authors_mistake(problem):
    said = complaint(problem, PLAIN, reference="def f(x):\n    raise KeyError('lost')\n")
    assert said == "problems/written/cases.py: case 'plain': the reference raises KeyError: 'lost'"
    assert "the reference raises KeyError" in complaint(problem, PLAIN, reference="y = 1\n")


def test_a_reference_that_returns_where_it_should_raise_is_the_authors_mistake(problem):
    cases = PLAIN.replace("draw.normal(2, 3))", "draw.normal(2, 3)).raises(ValueError)")
    said = complaint(problem, cases)
    assert said == "problems/written/cases.py: case 'plain': the reference returns where ValueError is asked for"
    raising = "class Odd(ValueError):\n    pass\n\ndef f(x):\n    raise Odd('odd')\n"
    assert problem(cases, reference=raising).expected[0].error.type == "Odd"
    assert "the reference raises" in complaint(
        problem, cases, reference=raising.replace("Odd(ValueError)", "Odd(KeyError)")
    )


# Expected values


def test_low_precision_is_expected_from_the_rounded_inputs_in_float64(problem):
    cases = PLAIN.replace("draw.normal(2, 3))", "draw.normal(2, 3)).in_dtype(torch.bfloat16)")
    reference = "def f(x):\n    return (x * 3).sum(-1), {'dtype': x.dtype, 'index': x.argmax()}\n"
    expected = problem(cases, reference=reference).expected[0].values["output"]
    (call,) = problem(cases, reference=reference).calls
    x = call.program.steps[0].args[0]
    assert x.dtype is torch.bfloat16
    assert expected[0].dtype is torch.bfloat16
    assert expected[0].equal((x.double() * 3).sum(-1).bfloat16())
    assert expected[1]["index"].dtype is torch.int64


# Judging


def test_the_reference_passes_its_own_cases(problem):
    drawn = problem(SEVERAL)
    for case in drawn.cases:
        outcome = judged(drawn, case.name)
        assert (outcome.differences, outcome.remarks, outcome.worst, outcome.failure) == ([], [], 0.0, None)


def test_the_differences_of_all_calls_are_told_once_each(problem):
    outcome = judged(problem(SEVERAL), "two_calls", "def f(x, y=None):\n    return x.tolist()\n")
    assert outcome.complaints == [
        "output is a list of 2, expected a tensor of shape (2,)",
        "gradient of x is missing: no gradient reaches it",
        "output is a list of 3, expected a tensor of shape (3,)",
    ]
    assert not outcome.passed
    assert outcome.severity == float("inf")


def test_a_relation_is_checked_where_the_form_is_right(problem):
    drawn = problem(SEVERAL)
    assert judged(drawn, "linear", "def f(x):\n    return 5 * x\n").passed
    outcome = judged(drawn, "linear", "def f(x):\n    return x + 1\n")
    assert outcome.complaints == ["the results three times the input is not three times the output"]
    outcome = judged(drawn, "linear", "def f(x):\n    return (x + 1)[:1]\n")
    assert outcome.complaints == ["output has shape (1,), expected (4,)"]


def test_a_check_that_meets_what_it_did_not_foresee_fails_the_case(problem):
    cases = "@relation\ndef odd(draw):\n    'is odd'\n    return [call('f', draw.normal(2))], lambda o: 1 // int(o[0]['output'].sum() < 9)\n"
    assert judged(problem(cases), "odd").passed
    outcome = judged(problem(cases), "odd", "def f(x):\n    return x + 99\n")
    assert outcome.complaints[0].startswith("the results can't be compared (ZeroDivisionError")


@pytest.mark.parametrize(
    ("source", "failure"),
    [
        ("def f(x):\n    raise KeyError\n", "runtime error"),
        ("def f(x):\n    raise MemoryError\n", "memory limit"),
        ("def f(x):\n    return torch.zeros(1).expand(1 << 30)\n", "output limit"),
        ("def f(x):\n    return 3 * x\n", None),
    ],
)
def test_what_a_call_raised_decides_the_status_of_its_case(problem, source, failure):
    outcome = judged(problem(PLAIN), "plain", source)
    assert outcome.failure == failure
    assert not outcome.passed


def test_a_wrong_error_where_one_is_asked_for_is_a_wrong_answer(problem):
    cases = PLAIN.replace("draw.normal(2, 3))", "draw.normal(2, 3)).raises(ValueError, naming=7)")
    drawn = problem(cases, reference="def f(x):\n    raise ValueError('not 7')\n")
    outcome = judged(drawn, "plain", "def f(x):\n    raise KeyError\n")
    assert (outcome.failure, outcome.passed) == (None, False)
    outcome = judged(drawn, "plain", "def f(x):\n    raise ValueError('odd')\n")
    assert outcome.passed
    assert outcome.remarks == ["the ValueError's message should name the offending value, 7"]


def test_a_wrong_state_dict_is_a_wrong_answer(problem):
    cases = "@case\ndef plain(draw):\n    'doubles'\n    return module_call('F', {}, {'w': draw.normal(2)}, draw.normal(2))\n"
    module = """
class F(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return self.w * x
"""
    drawn = problem(cases, reference=module)
    assert judged(drawn, "plain", module).passed
    outcome = judged(drawn, "plain", module.replace("self.w", "self.v"))
    assert outcome.failure is None
    assert outcome.complaints == ["the state_dict missing w; not asked for: v"]


def test_the_traceback_is_that_of_the_call_that_failed(problem):
    drawn = problem(PLAIN)
    observed = drawn.observe(drawn.reference, drawn.calls[0])
    failure = Failure("raised", "KeyError", ("KeyError",), "lost", 3, ("line 3, in f: lost",))
    for part in ("error", "gradient_error", "repeat_error"):
        outcome = drawn.judge_case(drawn.cases[0], [replace(observed, **{part: failure})])
        assert outcome.traceback == failure.traceback
        assert not outcome.passed
