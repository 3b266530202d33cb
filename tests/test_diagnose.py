"""Which seeded bugs a failing submission resembles: exactly, in the same cases, one entry point each, or none."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from written_problem import drawn, write

from judge import diagnose as module
from judge import kill_matrix
from judge.agreement import agree
from judge.authoring import call
from judge.diagnose import diagnose
from judge.drawn import load
from judge.mutants import load_mutants
from judge.observation import Failure, Observation

CASES = """
@case
def plain(draw):
    "is the sum of the squares"
    return call("f", draw.normal(2, 3))

@case
def one_column(draw):
    "is right for one column"
    return call("f", draw.normal(4, 1))

@case
def refused(draw):
    "refuses vectors"
    return call("f", draw.normal(1)).raises(ValueError)

@case
def shifted(draw):
    "moves by one"
    return call("g", draw.normal(3))

@relation
def additive(draw):
    "adds up"
    x = draw.normal(3)
    return [call("g", x), call("g", x + 1)], lambda o: None if same(o[0]["output"] + 1, o[1]["output"]) else "no sum"
"""
REFERENCE = """
def f(x):
    if x.dim() < 2:
        raise ValueError("a vector")
    squares = x * x
    return squares.sum(-1)


def g(x):
    return x + 1
"""
MUTANTS = """
[no_squares]
before = "squares = x * x"
after = "squares = x"
kills = ["plain"]
what = "sums without squares"
idea = "square first"

[mean]
before = "return squares.sum(-1)"
after = "return squares.mean(-1)"
kills = ["plain"]
what = "gives the mean"
idea = "a sum"

[not_refused]
before = "if x.dim() < 2:"
after = "if x.dim() < 1:"
kills = ["refused"]
what = "takes vectors"
idea = "look at the dimensions"

[no_shift]
before = "return x + 1"
after = "return x"
kills = ["shifted"]
what = "does not move"
idea = "add one"

[not_finite]
before = "return squares.sum(-1)"
after = "return (squares - squares).log().sum(-1)"
kills = ["plain"]
what = "takes the logarithm of zero"
idea = "zero has no logarithm"

[twice]
before = "return x + 1"
after = "return 2 * x + 1"
kills = ["additive"]
what = "moves twice as far"
idea = "once"
"""


@pytest.fixture(scope="module", params=[False, True], ids=["not proven", "proven"])
def problem(request, tmp_path_factory):
    problem = drawn(write(tmp_path_factory.mktemp("diagnose"), CASES, REFERENCE, MUTANTS))
    if request.param:
        prove(problem)
    return problem


def prove(problem):
    """Keep what each mutant fails, as `judge verify` does."""
    kills = {}
    for mutant in load_mutants(problem.folder):
        namespace = load(Path("mutant.py"), mutant.source)
        seen = {case.name: [problem.observe(namespace, one) for one in case.calls] for case in problem.cases}
        kills[mutant.name] = [
            case.name for case in problem.cases if not problem.judge_case(case, seen[case.name]).passed
        ]
    kill_matrix.keep(problem.folder, kills)


def diagnosed(problem, *edits, source=REFERENCE, leave_out=()):
    """The strength and the mutants found for an edited reference."""
    for before, after in edits:
        assert before in source
        source = source.replace(before, after)
    namespace = load(Path("submission.py"), "import torch\n" + source)
    observed = {one.number: problem.observe(namespace, one) for one in problem.calls}
    outcomes = {
        case.name: problem.judge_case(case, [observed[one.number] for one in case.calls])
        for case in problem.cases
        if case.name not in leave_out
    }
    assert not all(outcome.passed for outcome in outcomes.values())
    found = diagnose(problem, load_mutants(problem.folder), observed, outcomes)
    return found and (
        f"{found.strength}, together" if found.together else found.strength,
        [(like.mutant.name, like.part) for like in found.likenesses],
    )


def test_rows_of_other_mutants_than_there_are_tell_nothing(tmp_path):
    problem = drawn(write(tmp_path, CASES, REFERENCE, MUTANTS))
    kill_matrix.keep(problem.folder, {"mean": ["plain"]})
    assert diagnosed(problem, ("return x + 1", "return x * 1.0")) == ("exactly", [("no_shift", None)])


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("no_squares", ("squares = x * x", "squares = torch.relu(x) - torch.relu(-x)")),
        ("mean", ("squares.sum(-1)", "squares.sum(-1) / x.shape[-1]")),
        ("not_refused", ("x.dim() < 2", "False")),
        ("no_shift", ("return x + 1", "return x * 1.0")),
        ("twice", ("return x + 1", "return 1 + x + x")),
        ("not_finite", ("squares.sum(-1)", "torch.log(x - x).sum(-1)")),
    ],
)
def test_a_submission_that_is_equal_on_all_calls_behaves_exactly_like_the_mutant(problem, name, edit):
    assert diagnosed(problem, edit) == ("exactly", [(name, None)])


def test_another_wrong_value_in_the_same_cases_is_only_alike(problem):
    assert diagnosed(problem, ("return x + 1", "return x + 0.1")) == ("same cases", [("no_shift", None)])
    assert diagnosed(problem, ("return squares.sum(-1)", "return squares.sum(-1) / x.shape[-1] ** 2")) == (
        "same cases", [("mean", None)],
    )  # fmt: skip


def test_a_mutant_that_is_no_nearer_than_the_reference_is_not_named(problem):
    assert diagnosed(problem, ("return x + 1", "return x + 3")) is None
    assert diagnosed(problem, ("return x + 1", "return 30 * (x + 1)")) is None  # the mutant gives twice as much


def test_a_submission_that_no_mutant_explains_gets_no_diagnosis(problem):
    assert diagnosed(problem, ("squares.sum(-1)", "squares.sum(-1)[:1]"), ("x.dim() < 2", "x.dim() < 0")) is None
    assert diagnosed(problem, source="def f(x):\n    raise KeyError\n\ndef g(x):\n    raise KeyError\n") is None


def test_two_entry_points_are_explained_by_a_mutant_each(problem):
    found = diagnosed(problem, ("x * x", "x"), ("return x + 1", "return x"))
    assert found[0] == "exactly"
    assert sorted(found[1]) == [("no_shift", "g"), ("no_squares", "f")]


def test_one_unexplained_entry_point_leaves_the_closest_to_say(problem):
    found = diagnosed(problem, ("x * x", "x"), ("return x + 1", "return x * 7"))
    assert found == ("closest", [("no_squares", None)])


def test_two_bugs_in_one_entry_point_are_named_together(problem):
    found = diagnosed(problem, ("x * x", "x + 0"), ("x.dim() < 2", "False"))
    assert found == ("exactly, together", [("no_squares", None), ("not_refused", None)])


def test_two_bugs_in_every_failing_case_are_found_by_their_nearness(problem):
    found = diagnosed(problem, ("squares = x * x", "squares = x"), ("squares.sum(-1)", "squares.mean(-1)"))
    assert found == ("exactly, together", [("no_squares", None), ("mean", None)])


def test_a_bug_that_shows_on_passing_cases_only_in_part_is_claimed_for_the_failing_ones(problem):
    source = REFERENCE.replace("squares = x * x", "squares = x if x.shape[1] == 3 else x * x")
    assert diagnosed(problem, source=source) == ("failing", [("no_squares", None)])


def test_a_bug_that_explains_most_failing_cases_is_the_closest(problem):
    source = REFERENCE.replace("squares = x * x", "squares = x").replace("return x + 1", "return 3 * x + 7")
    found = diagnosed(problem, source=source)
    assert found == ("closest", [("no_squares", None)])


def test_a_part_that_passes_does_not_need_to_be_explained(problem):
    assert diagnosed(problem, ("return x + 1", "return 2 * x + 1")) == ("exactly", [("twice", None)])


def test_cases_that_were_not_reached_are_left_out(problem):
    found = diagnosed(problem, ("x * x", "x"), ("return x + 1", "return x * 7"), leave_out=("shifted", "additive"))
    assert found == ("exactly", [("no_squares", None)])


def test_wrong_manners_are_no_part_of_a_mutant_without_them(problem):
    drawing = ("squares = x * x", "squares = x + 0 * torch.rand(1)")
    assert diagnosed(problem, drawing) is None


def test_when_the_time_is_used_up_nothing_is_claimed(problem, monkeypatch):
    monkeypatch.setattr(module, "_SECONDS", -1.0)
    assert diagnosed(problem, ("x * x", "x")) is None


# When two observations agree


ODD = Failure("raised", "ValueError", ("ValueError",), "no", 1, ())
X = torch.ones(2, 3, dtype=torch.float64)


def torch_error(message):
    return Failure("raised", "RuntimeError", ("RuntimeError",), message, 1, ())


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ({}, {}, True),
        ({"error": ODD}, {"error": ODD}, True),
        ({"error": ODD}, {}, False),
        ({"error": ODD}, {"error": Failure("raised", "KeyError", (), "no", 1, ())}, False),
        ({"error": torch_error("shape '[5]' is invalid")}, {"error": torch_error("shape '[4, 7]' is invalid")}, True),
        ({"error": torch_error("tensor a (5)")}, {"error": torch_error("not contiguous")}, False),
        ({"values": {"output": X}}, {"values": {"output": X * (1 + 1e-8)}}, True),
        ({"values": {"output": X}}, {"values": {"output": 2 * X}}, False),
        ({"values": {"output": X}}, {"values": {"output": X.float()}}, False),
        ({"values": {"output": X / 0}}, {"values": {"output": X / 0}}, True),
        ({"values": {"output": X / 0}}, {"values": {"output": -X / 0}}, False),
        ({"values": {"output": X * torch.nan}}, {"values": {"output": X / 0}}, False),
        ({"gradients": {"x": X}}, {"gradients": {"x": 2 * X}}, False),
        ({"gradients": {"x": X * torch.nan}}, {"gradients": {"x": X * torch.nan}}, True),
        ({"gradients": {"x": None}}, {"gradients": {"x": X}}, False),
        ({"gradient_error": ODD}, {}, False),
        ({"detached": ("output",)}, {}, False),
        ({"changed": (("x", "values"),)}, {}, False),
        ({"changed": (("x", "values"),)}, {"changed": (("y", "values"),)}, False),
        ({"settings": ("grad mode",)}, {}, False),
        ({"generator": True}, {}, False),
        ({"repeat": {"output": X}}, {}, False),
        ({"tracked": {"output": X}}, {}, False),
        ({"overwritten": ("output",)}, {}, False),
        ({"mixed": ODD}, {}, False),
        ({"elsewhere": ("output",)}, {}, False),
        ({"repeat_error": ODD}, {}, False),
    ],
    ids=lambda value: None,
)
def test_observations_agree_in_every_facet_or_not_at_all(one, other, alike):
    assert agree(Observation(**one), Observation(**other), call("f").program, {}) is alike
    assert agree(Observation(**other), Observation(**one), call("f").program, {}) is alike


def test_where_an_error_is_asked_for_another_one_is_a_missing_check_whatever_it_says():
    one, other = Observation(error=torch_error("shape is invalid")), Observation(error=torch_error("unflatten: sizes"))
    assert agree(one, other, call("f").raises(ValueError).program, {})
    assert not agree(one, other, call("f").program, {})


def test_where_an_error_is_asked_for_values_still_tell_two_results_apart():
    program = call("f").raises(ValueError).program
    one, other = (Observation(values={"output": value}) for value in (X, 2 * X))
    assert agree(one, one, program, {})
    assert not agree(one, other, program, {})


def test_gradients_that_are_noise_beside_their_natural_size_agree():
    one, other = (Observation(gradients={"x": noise * X}) for noise in (1e-9, 3e-9))
    assert agree(one, other, call("f").program, {"x": 1.0})
    assert not agree(one, other, call("f").program, {"x": 1e-6})


def test_of_random_calls_only_the_manners_are_compared():
    program = call("f").random().program
    one, other = (Observation(values={"output": value}) for value in (X, 2 * X))
    assert agree(one, other, program, {})
    assert not agree(one, Observation(values={"output": X}, generator=True), program, {})
