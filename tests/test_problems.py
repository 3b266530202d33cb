"""Right answers in odd forms, and remarks, on the real problems; each problem's own proof is `judge verify`."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge import kill_matrix
from judge.catalog import find_problem, problem_ids
from judge.mutants import load_mutants
from judge.pipeline import submit

FLOAT32_MLP = """
import torch
import torch.nn.functional as F

ACTIVATIONS = {"silu": F.silu, "gelu": F.gelu, "relu": F.relu, "sigmoid": torch.sigmoid, "identity": lambda t: t}

def gated_mlp_forward(x, weight_gate, weight_up, weight_down, activation="silu"):
    if activation not in ACTIVATIONS:
        raise ValueError(f"unknown activation {activation!r}")
    gate, up = F.linear(x.float(), weight_gate.float()), F.linear(x.float(), weight_up.float())
    return F.linear(ACTIVATIONS[activation](gate) * up, weight_down.float()).to(x.dtype)

def mlp_parameter_count(d_model, d_ff, gated=False, bias=True):
    inner = (2 if gated else 1) * (d_model * d_ff + (d_ff if bias else 0))
    return inner + d_model * d_ff + (d_model if bias else 0)

def matched_gated_width(d_ff, multiple_of=1):
    return -(-int(2 * d_ff / 3) // multiple_of) * multiple_of

def mlp_forward_flops(num_tokens, d_model, d_ff, gated=False):
    return 2 * num_tokens * d_model * d_ff * (3 if gated else 2)
"""


def judged(problem: str, source: str, tmp_path: Path, engine):
    path = tmp_path / "answer.py"
    path.write_text(source, encoding="utf-8")
    report = submit(find_problem(problem), path, engine)
    said = [f"{case.name}: {f.subject} {f.message}" for case in report.failed for f in case.findings]
    return report, said


def reference(problem: str) -> str:
    return (find_problem(problem).folder / "hidden" / "reference.py").read_text(encoding="utf-8")


def right_answer(problem: str) -> str:
    found = find_problem(problem)
    if found.kind == "tests":
        return min((found.folder / "hidden" / "exemplars").glob("pass_*.py")).read_text(encoding="utf-8")
    return reference(problem)


@pytest.mark.parametrize("problem", problem_ids())
def test_the_reference_is_accepted_and_the_stub_is_not(problem, tmp_path, engine):
    report, said = judged(problem, right_answer(problem), tmp_path, engine)
    assert report.verdict == "accepted", (report.message, said)
    stub = (find_problem(problem).folder / "stub.py").read_text(encoding="utf-8")
    assert judged(problem, stub, tmp_path, engine)[0].exit_code in (1, 2)


def test_a_gated_mlp_in_float32_is_accepted_with_a_remark(tmp_path, engine):
    report, said = judged("gated-mlp", FLOAT32_MLP, tmp_path, engine)
    assert report.verdict == "accepted", said
    assert any("lower precision" in remark for remark in report.remarks)


ODD_FORMS = {
    "a partial": (
        "layer-norm",
        "\nfrom functools import partial\n_own = layer_norm_forward\ndef _swapped(eps_first, x, gamma, beta, eps=1e-5): return _own(x, gamma, beta, eps)\nlayer_norm_forward = partial(_swapped, None)\n",
    ),
    "a decorated def": (
        "layer-norm",
        "\nimport functools\ndef logged(f):\n    @functools.wraps(f)\n    def inner(*a, **k): return f(*a, **k)\n    return inner\n_own = layer_norm_forward\n@logged\ndef layer_norm_forward(x, gamma, beta, eps=1e-5): return _own(x, gamma, beta, eps)\n",
    ),
    "a def under if": (
        "layer-norm",
        "\n_own = layer_norm_forward\nif torch.__version__:\n    def layer_norm_forward(x, gamma, beta, eps=1e-5): return _own(x, gamma, beta, eps)\nelse:\n    layer_norm_forward = None\n",
    ),
    "args and kwargs": (
        "layer-norm",
        "\n_own = layer_norm_forward\ndef layer_norm_forward(*args, **kwargs): return _own(*args, **kwargs)\n",
    ),
    "a class from a factory": (
        "pre-norm-block",
        "\n_Own = PreNormBlock\ndef make(base):\n    class PreNormBlock(base):\n        pass\n    return PreNormBlock\nPreNormBlock = make(_Own)\n",
    ),
    "a factory function": (
        "pre-norm-block",
        "\n_Own = PreNormBlock\ndef PreNormBlock(*a, **k): return _Own(*a, **k)\n",
    ),
    "a type with a metaclass": (
        "pre-norm-block",
        "\n_Own = PreNormBlock\nclass Meta(type): pass\nclass PreNormBlock(_Own, metaclass=Meta):\n    def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)\n",
    ),
}


@pytest.mark.parametrize("form", ODD_FORMS)
def test_odd_forms_are_accepted(form, tmp_path, engine):
    problem, after = ODD_FORMS[form]
    report, said = judged(problem, reference(problem) + after, tmp_path, engine)
    assert report.verdict == "accepted", (report.message, said)


@pytest.mark.parametrize("problem", [name for name in problem_ids() if find_problem(name).kind != "tests"])
def test_what_mutants_fail_is_known_of_each_problem_as_it_stands(problem):
    folder = find_problem(problem).folder
    known = kill_matrix.load(folder)
    assert known, f"run `judge verify {problem}` and commit {kill_matrix.KILLS}"
    assert set(known) == {mutant.name for mutant in load_mutants(folder)}
    assert all(known[mutant.name].issuperset(mutant.kills) for mutant in load_mutants(folder))


def test_the_shipped_examples_get_what_the_readme_says(engine):
    examples = Path(__file__).resolve().parent.parent / "submissions" / "examples"
    problem = find_problem("pre-norm-vs-post-norm")
    assert submit(problem, examples / "pre-norm-vs-post-norm-right.py", engine).verdict == "accepted"
    report = submit(problem, examples / "pre-norm-vs-post-norm-residual.py", engine)
    assert report.verdict == "wrong answer"
    assert report.diagnosis
    assert report.diagnosis.strength == "exactly"
    assert "residual" in report.diagnosis.mutants[0].what
