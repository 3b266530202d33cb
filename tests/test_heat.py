"""The map of where a tensor is wrong: its axes, its cells, and what it says where there is nothing to measure."""

from __future__ import annotations

import math

import pytest
import torch

from judge.heat import CELLS, LEAST, MOST, heat_map
from judge.models import HeatMap
from judge.pipeline import submit


def test_a_cell_is_the_largest_error_over_the_other_axes():
    expected = torch.ones(2, 3, 4, dtype=torch.float64)
    observed = expected.clone()
    observed[1, 2, 0] += 0.1
    observed[0, 2, 0] += 0.01
    found = heat_map(observed, expected, "float64")
    assert (found["rows"], found["columns"], found["tolerance"]) == ("tokens", "channels", -5.0)
    assert found["values"] == [[LEAST] * 4, [LEAST] * 4, [-1.0, LEAST, LEAST, LEAST]]
    assert found["others"] == ["batch rows"]


@pytest.mark.parametrize(
    ("shape", "others"), [((3, 4), []), ((5, 2, 3, 4), ["batch rows", "heads"]), ((1, 5, 2, 3, 4), ["other axes"])]
)
def test_the_axes_that_a_cell_is_the_largest_over_are_named(shape, others):
    found = heat_map(torch.ones(shape), torch.zeros(shape), "float64")
    assert found["others"] == others
    assert HeatMap(**found).others == tuple(others)


def test_errors_are_measured_against_the_token():
    expected = torch.tensor([[100.0, 100.0], [1.0, 1.0]], dtype=torch.float64)
    found = heat_map(expected + 1.0, expected, "float64")
    assert found["values"] == [[-2.0, -2.0], [0.0, 0.0]]


@pytest.mark.parametrize("shape", [(16, 16), (17, 33), (3, 1000), (40, 2), (500,), (2, 3, 4, 21, 5)])
def test_a_large_tensor_is_shown_in_few_cells_and_no_error_is_lost(shape):
    expected = torch.ones(shape)
    observed = expected.clone()
    observed.view(-1)[-1] = 11.0
    found = heat_map(observed, expected, "float32")
    rows, columns = len(found["values"]), len(found["values"][0])
    assert rows <= CELLS
    assert columns <= CELLS
    assert rows * found["row_step"] >= (1, *shape)[-2]
    assert found["values"][-1][-1] == 1.0
    assert sum(cell > LEAST for row in found["values"] for cell in row) == 1


def test_what_is_not_finite_is_the_hottest():
    expected = torch.ones(2, 2)
    found = heat_map(torch.tensor([[math.nan, 1.0], [math.inf, 1.0]]), expected, "float64")
    assert found["values"] == [[MOST, LEAST], [MOST, LEAST]]


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64])
def test_entries_that_are_no_floats_are_equal_or_not(dtype):
    expected = torch.tensor([[0, 1], [1, 0]], dtype=dtype)
    found = heat_map(torch.tensor([[0, 1], [0, 0]], dtype=dtype), expected, "float64")
    assert found["values"] == [[LEAST, LEAST], [0.0, LEAST]]


DTYPES = (torch.bool, torch.int64, torch.float32, torch.float64, torch.bfloat16, torch.complex128)


@pytest.mark.parametrize("observed", DTYPES)
@pytest.mark.parametrize("expected", DTYPES)
def test_a_result_of_another_dtype_has_a_map(observed, expected):
    found = heat_map(torch.ones(2, 3).to(observed), torch.zeros(2, 3).to(expected), "bfloat16")
    assert all(cell > found["tolerance"] for row in found["values"] for cell in row)


def test_infinities_that_should_be_there_are_right():
    expected = torch.tensor([[-math.inf, 1.0], [-math.inf, 1.0]])
    found = heat_map(torch.tensor([[-math.inf, 1.0], [0.0, 1.0]]), expected, "float64")
    assert found["values"] == [[LEAST, LEAST], [MOST, LEAST]]


def test_zeros_are_measured_too():
    assert heat_map(torch.zeros(2, 2), torch.zeros(2, 2), "float64")["values"] == [[LEAST, LEAST]] * 2
    assert heat_map(torch.ones(2, 2), torch.zeros(2, 2), "float64")["values"] == [[MOST, MOST]] * 2


def test_a_single_number_has_no_map():
    assert heat_map(torch.tensor(1.0), torch.tensor(2.0), "float64") is None


def test_the_first_failing_value_of_a_submission_has_a_map_and_no_other(judged):
    report = judged("import torch\n\n\ndef solve(x, y):\n    return torch.softmax(2 * x @ y, -1)\n")
    findings = [finding for case in report.cases for finding in case.findings]
    assert [finding.heat is not None for finding in findings if finding.facet == "value"].count(True) == 1
    first = next(finding for finding in findings if finding.facet == "value")
    assert max(max(row) for row in first.heat.values) > first.heat.tolerance


def test_a_problem_that_hides_its_inputs_shows_no_map(tmp_path, softmax, engine):
    answer = tmp_path / "answer.py"
    answer.write_text("import torch\n\n\ndef solve(x, y):\n    return torch.softmax(2 * x @ y, -1)\n")
    report = submit(softmax.model_copy(update={"inputs_shown": False}), answer, engine)
    assert report.failed
    assert all(finding.heat is None for case in report.cases for finding in case.findings)


def test_an_accepted_submission_has_none(judged):
    report = judged("import torch\n\n\ndef solve(x, y):\n    return torch.softmax(x @ y, -1)\n")
    assert report.verdict == "accepted"
    assert not any(case.findings for case in report.cases)
