"""A case as a plain script: it runs beside a file, gives what the call gave, and holds no expected values."""

from __future__ import annotations

import ast
import runpy
import sys
from typing import get_args

import pytest
import torch
from written_problem import drawn, write

from judge.errors import ProblemError
from judge.program import Program, Ref, Step, StepKind
from judge.script import _step, script

CASES = """
@case
def functions(draw):
    "goes through every kind of argument"
    x = draw.normal(2, 3)
    odd = torch.tensor([[1.0, float("nan"), float("inf")], [-float("inf"), -0.0, 1e-300]]).double()
    one = Call()
    pair = one.function("f", x, y={"a": [odd, (None, True)], "b": (draw.transposed(x),), 3: "text's"})
    one.function("g", pair[0], draw.expanded(draw.normal(3), 2), eps=1e-5, limit=float("inf"), kind=torch.float32)
    one.function("f", pair["rest"]["b"][0], draw.noncontiguous(x)).observe("output")
    return [one, call("g", draw.integers(0, 9, 2, 1), torch.tensor(2.5), draw.mask(2, 3), torch.empty(0, 4), -1)]

@case
def modules(draw):
    "goes through every kind of step"
    one = Call()
    module = one.construct("Linear", d=3)
    one.to(module)
    one.load_state(module, {"weight": draw.weight(2, 3), "bias": draw.bias(2)})
    one.train(module)
    one.eval(module)
    copy = one.deepcopy(module)
    one.apply(copy, draw.normal(1, 3)).observe("applied")
    one.method(module, "twice", draw.normal(1, 3), shift=2).observe("twice")
    one.attribute(module, "weight.shape").observe("shape")
    one.identical(module, copy).observe("same")
    one.state_dict(module).observe("state")
    one.constant("LINES").observe("lines")
    one.seed(5)
    leaf = one.leaf(draw.normal(1, 3), None)
    one.gradients(module, one.apply(module, leaf), leaf).observe("gradients")
    return one.values_only()

@case
def blocks(draw):
    "applies a block to a stream that has a gradient"
    one = Call()
    block = one.given("residual", "block 1", weight=draw.weight(3, 3))
    x = one.leaf(draw.normal(2, 3), draw.normal(2, 3))
    one.function("chain", x, one.module_list(block)).observe("output")
    one.calls().observe("calls")
    return one.differentiate()

@case
def low(draw):
    "goes through low precision"
    return call("g", draw.normal(2, 2), draw.normal(2)).in_dtype(torch.bfloat16)
"""
REFERENCE = """
LINES = [1, 2]


class Parts(dict):
    def __getitem__(self, key):
        return self.get(key)


def f(x, y=None):
    return {0: 2 * x, "rest": y if isinstance(y, dict) else None}


def g(x, *rest, **more):
    return [x + 1, *rest, more]


def chain(x, blocks):
    return blocks[0](x)


class Linear(torch.nn.Linear):
    def __init__(self, d):
        super().__init__(d, 2)

    def twice(self, x, shift):
        return 2 * self(x) + shift
"""


@pytest.fixture(scope="module")
def problem(tmp_path_factory):
    return drawn(write(tmp_path_factory.mktemp("script"), CASES, REFERENCE), seed=7)


@pytest.fixture
def run(problem, tmp_path, monkeypatch):
    """Run a case's script beside the reference; gives the names that it leaves behind."""

    def run(case):
        path = tmp_path / "script.py"
        path.write_text(script(problem, case, 7), encoding="utf-8")
        monkeypatch.setattr(sys, "argv", [str(path), str(problem.folder / "hidden" / "reference.py")])
        return runpy.run_path(str(path))

    return run


def same(one, other):
    """Equal in structure, types, dtypes and values; NaN equals NaN."""
    if isinstance(other, torch.Tensor):
        return one.dtype is other.dtype and one.shape == other.shape and one.detach().allclose(other, equal_nan=True)
    if isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in other)
    if isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def result(left, problem, case, name):
    """What the script left of the observed step of its last call, and what the judge expects of it."""
    call = next(one for one in problem.cases if one.name == case).calls[-1]
    index = next(index for index, step in enumerate(call.program.steps) if step.observe == name)
    return left[f"result{index}"], problem.expected[call.number].values[name]


def test_the_script_gives_what_the_judge_sees(problem, run):
    left = run("functions")
    assert same(*result(left, problem, "functions", "output"))
    left = run("modules")
    for name in ("applied", "twice", "same", "state", "lines", "gradients"):
        assert same(*result(left, problem, "modules", name)), name
    assert left["result8"] == torch.Size([2, 3])


@pytest.mark.parametrize("kind", get_args(StepKind))
def test_each_kind_of_step_has_its_line(kind):
    name = "squares" if kind == "given" else "name"
    tensors = {"weight": Ref(2)} if kind == "given" else {}
    line = _step(3, Step(kind, name, target=Ref(0), args=(Ref(1),), kwargs=tensors), Program(()))
    assert line.startswith("result3 = ")
    ast.parse(line)


def test_low_precision_inputs_keep_their_dtype(problem, run):
    observed, expected = result(run("low"), problem, "low", "output")
    assert [part.dtype for part in observed[:2]] == [part.dtype for part in expected[:2]] == [torch.bfloat16] * 2


def test_inputs_have_the_memory_that_the_submission_saw(problem):
    text = script(problem, "functions", 7)
    step = problem.calls[0].program.steps
    for tensor in (step[0].kwargs["y"]["b"][0], step[1].args[1], step[2].args[1]):
        assert f".as_strided({tuple(tensor.shape)}, {tensor.stride()}, {tensor.storage_offset()})" in text
    inputs = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    made = [
        eval(ast.unparse(node), {"tensor": torch.tensor, "torch": torch, "nan": torch.nan, "inf": torch.inf})
        for node in inputs
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("reshape", "as_strided")
    ]
    assert any(same(one, step[2].args[1]) and one.stride() == step[2].args[1].stride() for one in made)


def test_observed_results_are_printed_under_their_names(run, capsys):
    run("modules")
    printed = capsys.readouterr().out
    assert printed.startswith("applied tensor([[")
    assert "\nsame False\n" in printed
    assert "\nlines [1, 2]\n" in printed


def test_the_script_names_its_case_and_seed_and_reads_as_code(problem):
    text = script(problem, "functions", 7)
    assert "Case 'functions' of written, as drawn with seed 7" in text
    assert [line for line in text.splitlines() if line.startswith("# call")] == ["# call 1 of 2", "# call 2 of 2"]
    ast.parse(text)


def test_the_script_holds_nothing_of_the_reference(problem):
    for case in ("functions", "modules", "low"):
        text = script(problem, case, 7)
        assert "hidden" not in text
        assert "reference" not in text


def test_a_step_that_is_left_out_says_so(tmp_path):
    cases = """
    @case
    def step(draw):
        "goes a step"
        one = Call()
        module = one.construct("Linear", d=3)
        one.to(module)
        one.sgd_step(module, one.apply(module, draw.normal(1, 3)))
        return one.random()
    """
    text = script(drawn(write(tmp_path, cases, REFERENCE)), "step", 1)
    assert "result3 = None  # one step of gradient descent on result0" in text


def test_callables_that_the_judge_gives_are_written_out(problem, run):
    assert "result0 = Given(lambda x, *, weight: " in script(problem, "blocks", 7)
    left = run("blocks")
    assert same(*result(left, problem, "blocks", "output"))
    assert left["result1"].requires_grad
    assert left["result1"].grad is not None


def test_an_unknown_case_is_named(problem):
    with pytest.raises(ProblemError, match=r"problems/written/cases\.py: there is no case 'else'"):
        script(problem, "else", 7)
