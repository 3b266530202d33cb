"""What is left out of torch's import is there for a submission that needs it."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from judge.pipeline import submit
from judge.processes.supervision import Engine

SOLVE = "import sys, torch\ndef solve(x, y):\n    {}\n    return torch.softmax(x @ y, -1)\n"
LEFT_OUT = pytest.mark.skipif(not version("torch").startswith("2.13."), reason="nothing is left out of this torch")
STOOD_IN = "[type(vars(torch)[name]).__name__ for name in ('_me' + 'ta_registrations', 'exp' + 'ort')]"


@pytest.fixture(scope="module")
def own_engine():
    """One in which no other test's worker has needed what is left out."""
    with Engine() as started:
        yield started


@pytest.fixture
def patiently(softmax, own_engine, tmp_path):
    """Judge such a file, with time for imports."""
    time = dict.fromkeys(("import_seconds", "call_seconds", "submission_seconds"), 60)
    patient = softmax.model_copy(update={"limits": softmax.limits.model_copy(update=time)})

    def judge(source):
        path = tmp_path / "answer.py"
        path.write_text(source, encoding="utf-8")
        return submit(patient, path, own_engine)

    return judge


@pytest.mark.parametrize(
    "line",
    [
        "assert torch.empty(3, 4, device='meta').median().shape == ()",
        "assert torch.nn.utils.skip_init(torch.nn.Conv2d, 3, 4, 2).weight.shape == (4, 3, 2, 2)",
        "assert torch.export.Dim is getattr(torch, 'ex' + 'port').Dim",
        "assert getattr(torch, 'exp' + 'ort').Dim('n').__name__ == 'n'",
        "__import__('torch.exp' + 'ort.dynamic_shapes')",
        "assert torch.broadcast_shapes((2, 1), (3,)) == (2, 3)",
        "assert getattr(torch, 'broadcast' + '_shapes')((2, 1), (3,)) == (2, 3)",
        "assert getattr(torch, '_re' + 'fs').add(x, x).shape == x.shape",
        "assert getattr(torch, '_dec' + 'omp').core_aten_decompositions",
        "assert getattr(torch, '_pri' + 'ms').mul(x, x).shape == x.shape",
        "from torch._refs import softmax; assert softmax.__module__ == 'torch._refs'",
        "assert torch._refs.add(x, x).shape == x.shape",
        "assert torch.ops.prims.mul(x, x).shape == x.shape",
        "from importlib import reload; old = torch.nn.utils.rnn.pad_sequence; assert reload(torch.nn.utils.rnn).pad_sequence is not old",
        "from importlib.util import find_spec; find_spec('torch._refs'); assert torch._refs.__spec__.origin.endswith('__init__.py')",
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
def test_what_cannot_be_brought_in_says_so_each_time(patiently):
    lines = """
    name, said = 'exp' + 'ort', []
    vars(sys)['modules']['torch._' + name] = None
    for _ in range(2):
        try:
            getattr(torch, name).Dim
        except ImportError as exc:
            said.append(str(exc))
    assert len(said) == 2, said"""
    report = patiently(SOLVE.format(lines))
    assert report.verdict == "accepted", [case.findings for case in report.cases]


@LEFT_OUT
def test_threads_that_ask_at_once_all_get_it(patiently):
    lines = """
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lambda _: getattr(torch, 'exp' + 'ort').Dim, range(4)))) == 1"""
    report = patiently(SOLVE.format(lines))
    assert report.verdict == "accepted", [case.findings for case in report.cases]


@LEFT_OUT
def test_a_plain_submission_does_without(patiently):
    assert (
        patiently(SOLVE.format(f"print(x, file=sys.stderr); assert {STOOD_IN} == ['StandIn'] * 2")).verdict
        == "accepted"
    )
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
