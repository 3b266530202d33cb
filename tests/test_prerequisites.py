"""Which failures are shown as not reached: those that build on a failure before them."""

from __future__ import annotations

import pytest
from conftest import TINY

from judge.drawn import DrawnProblem
from judge.errors import ProblemError
from judge.models import CaseResult
from judge.prerequisites import root_causes

PLAN = [
    {"name": "block", "after": [], "raises": False},
    {"name": "masks", "after": ["block"], "raises": False},
    {"name": "stack", "after": ["masks"], "raises": False},
    {"name": "refused", "after": ["block"], "raises": True},
]


def shown(**statuses: str) -> dict[str, tuple[str, str | None]]:
    results = [CaseResult(name=name, sentence="is right", status=status) for name, status in statuses.items()]
    return {result.name: (result.status, result.after) for result in root_causes(results, PLAN)}


def test_what_builds_on_a_failure_is_not_reached_and_names_the_first_one():
    found = shown(block="wrong answer", masks="wrong answer", stack="runtime error")
    assert found == {
        "block": ("wrong answer", None), "masks": ("not reached", "block"), "stack": ("not reached", "block"),
    }  # fmt: skip


def test_a_case_that_passes_stays_passed_whatever_it_builds_on():
    assert shown(block="wrong answer", masks="passed")["masks"] == ("passed", None)


def test_a_failure_on_passing_ground_is_a_root_cause():
    found = shown(block="passed", masks="wrong answer", stack="wrong answer")
    assert found["masks"] == ("wrong answer", None)
    assert found["stack"] == ("not reached", "masks")


def test_a_case_without_ground_of_its_own_passes_a_cause_on():
    found = shown(block="wrong answer", masks="passed", stack="wrong answer")
    assert found["stack"] == ("wrong answer", None)


@pytest.mark.parametrize(("block", "refused"), [("wrong answer", "wrong answer"), ("runtime error", "not reached")])
def test_an_error_that_is_asked_for_depends_on_a_call_that_gives_something_only(block, refused):
    assert shown(block=block, refused="wrong answer")["refused"][0] == refused


def drawn(tmp_path, cases: str) -> DrawnProblem:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "reference.py").write_text((TINY / "softmax" / "hidden" / "reference.py").read_text())
    (tmp_path / "cases.py").write_text("from judge.authoring import call, case\n" + cases)
    return DrawnProblem(tmp_path, "softmax", 3, {}, ())


CASE = '\n\n@case{}\ndef {}(draw):\n    "is right"\n    return call("solve", draw.normal(2, 3), draw.normal(3, 2))\n'


def test_the_first_case_of_an_entry_point_comes_before_all_others(tmp_path):
    problem = drawn(tmp_path, CASE.format("", "plain") + CASE.format("", "large") + CASE.format('(after="large")', "x"))
    assert [case.after for case in problem.cases] == [(), ("plain",), ("large", "plain")]


def test_a_name_of_no_earlier_case_is_an_error_of_the_problem(tmp_path):
    with pytest.raises(ProblemError, match="after = 'late' names no earlier case"):
        drawn(tmp_path, CASE.format('(after="late")', "plain") + CASE.format("", "late"))
