"""What is left out of torch's import is there for a submission that needs it."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from judge.pipeline import submit

SOLVE = "import sys, torch\ndef solve(x, y):\n    {}\n    return torch.softmax(x @ y, -1)\n"
LEFT_OUT = pytest.mark.skipif(not version("torch").startswith("2.13."), reason="nothing is left out of this torch")
STOOD_IN = "[type(vars(torch)[name]).__name__ for name in ('_me' + 'ta_registrations', 'exp' + 'ort')]"


@pytest.fixture
def patiently(softmax, engine, tmp_path):
    """Judge such a file, with time for imports."""
    time = dict.fromkeys(("import_seconds", "call_seconds", "submission_seconds"), 60)
    patient = softmax.model_copy(update={"limits": softmax.limits.model_copy(update=time)})

    def judge(source):
        path = tmp_path / "answer.py"
        path.write_text(source, encoding="utf-8")
        return submit(patient, path, engine)

    return judge


@pytest.mark.parametrize(
    "line",
    [
        "assert torch.empty(3, 4, device='meta').median().shape == ()",
        "assert torch.nn.utils.skip_init(torch.nn.Conv2d, 3, 4, 2).weight.shape == (4, 3, 2, 2)",
        "assert torch.export.Dim is getattr(torch, 'ex' + 'port').Dim",
        "assert getattr(torch, 'exp' + 'ort').Dim('n').__name__ == 'n'",
        "__import__('torch.exp' + 'ort.dynamic_shapes')",
        "from torch._refs import softmax; assert softmax.__module__ == 'torch._refs'",
        "import torch._prims.rng_prims as r; assert r.__spec__.origin.endswith('rng_prims.py')",
        "from torch.utils.checkpoint import checkpoint; checkpoint(torch.neg, x, use_reentrant=False)",
        "from torch._decomp import decomposition_table; assert len(decomposition_table) > 100",
        "import inspect; assert inspect.getmodule(solve) is sys.modules['submission']",
        "assert type(torch.Generator).__name__ == 'OpaqueBaseMeta'",
    ],
)
def test_a_submission_has_all_of_torch(patiently, line):
    report = patiently(SOLVE.format(line))
    assert report.verdict == "accepted", [case.findings for case in report.cases]


@LEFT_OUT
def test_a_plain_submission_does_without(patiently):
    assert patiently(SOLVE.format(f"assert {STOOD_IN} == ['StandIn'] * 2")).verdict == "accepted"
    word = SOLVE.format(f"assert {STOOD_IN} == ['module'] * 2  # META")
    assert patiently(word).verdict == "accepted"


def test_a_file_of_tests_has_all_of_torch(judged_tests):
    test = (
        "import torch\ndef test_shape(impl):\n    {}assert impl(torch.ones(2, 3), torch.ones(3, 4)).shape == (2, 4)\n"
    )
    without, with_ = test.format(""), test.format("torch.empty(3, 4, device='meta').median(); ")
    assert outcomes(judged_tests(with_)) == outcomes(judged_tests(without))


def outcomes(report):
    return [(case.name, case.status) for case in report.cases]
