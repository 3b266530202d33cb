"""Files of tests as submissions: what is valid, what is caught, and what hostile files get for their trouble."""

from __future__ import annotations

import pytest
from conftest import TINY

from judge.models import Report
from judge.verify_tests import fails_as, said

PASSING = (TINY / "softmax-tests" / "hidden" / "exemplars" / "pass_plain.py").read_text(encoding="utf-8")
HEAD = """
import torch

def draw(size=1.0):
    return size * torch.randn(30, 4, dtype=torch.float64), torch.randn(4, 5, dtype=torch.float64)

def right(impl, size=1.0):
    x, y = draw(size)
    return bool((impl(x, y) - (x @ y).softmax(-1)).norm() < 1e-8)
"""
PLAIN = HEAD + "def test_plain(impl):\n    assert right(impl)\n"
BOTH = PLAIN + "def test_large(impl):\n    assert right(impl, 100)\n"
TEN = "import pytest\n@pytest.mark.parametrize('n', range(10))\n"


def caught(report: Report) -> set[str]:
    assert report.thoroughness is not None
    return {str(bug.mutant) for bug in report.thoroughness.bugs if bug.caught_by is not None}


def test_a_thorough_file_is_accepted(judged_tests):
    report = judged_tests(PASSING)
    assert (report.verdict, report.points) == ("accepted", 1)
    assert caught(report) == {"wrong_axis", "not_stable", "one_minus"}
    assert report.thoroughness.tests == ("test_values[1]", "test_values[100]")
    assert {bug.caught_by for bug in report.thoroughness.bugs if bug.mutant == "not_stable"} == {"test_values[100]"}


def test_a_failure_in_a_fixture_catches_too(judged_tests):
    report = judged_tests(HEAD + FIXTURE)
    assert report.verdict == "accepted", said(report)


def test_an_uncaught_bug_is_told_by_its_behaviour_alone(judged_tests):
    report = judged_tests(PLAIN)
    assert report.verdict == "wrong answer"
    (missed,) = [bug for bug in report.thoroughness.bugs if bug.caught_by is None]
    assert (missed.behaviour, missed.mutant, missed.what, missed.idea) == ("stability", None, None, None)
    assert report.thoroughness.advice.startswith("stability: ")
    assert "not_stable" not in report.model_dump_json()
    assert fails_as("uncaught: stability", report)
    assert not fails_as("uncaught: values", report)


CLASSES = (
    HEAD
    + """
import unittest
import pytest

@pytest.fixture(params=[1, 100], scope="module")
def size(request):
    return request.param

@pytest.fixture(scope="module")
def result(impl, size):
    return right(impl, size)

class TestSolve:
    def test_in_a_class(self, result):
        assert result

    @pytest.mark.parametrize("kind", [TypeError])
    def test_errors(self, impl, kind):
        with pytest.raises(kind, match="argument"):
            impl()

def test_approx(impl):
    assert impl(*draw()).sum().item() == pytest.approx(30)

def test_gradients(impl):
    x, y = draw()
    assert torch.autograd.gradcheck(impl, (x[:3].requires_grad_(), y.requires_grad_()))
"""
)


def test_what_pytest_offers_is_there(judged_tests):
    report = judged_tests(CLASSES)
    assert report.verdict == "accepted", said(report)


def test_warnings_may_be_errors(judged_tests):
    report = judged_tests(BOTH + "import pytest\npytestmark = pytest.mark.filterwarnings('error')\n")
    assert report.verdict == "accepted", said(report)


FIXTURE = """
import pytest

@pytest.fixture(params=[1, 100])
def result(impl, request):
    assert right(impl, request.param)
    yield
    assert right(impl)

def test_fixture(result): pass
"""
VERDICTS = {
    "bit exact": (HEAD + "def test_a(impl):\n    x, y = draw()\n    assert torch.equal(impl(x, y), (x @ y).softmax(-1))\n", "invalid: test_a"),
    "memory": (BOTH + "def test_c(impl):\n    assert impl(*draw()).is_contiguous()\n", "invalid: that gives its result in transposed memory"),
    "never right": (BOTH + "def test_c(impl):\n    assert impl(*draw()).shape == (5, 3)\n", "invalid: refuses every correct implementation"),
    "a flaky seed": (BOTH + "" + TEN + "def test_c(impl, n):\n    assert torch.rand(()) < 0.5\n", "invalid: two answers"),
    "python's own seed": (BOTH + "import random\n" + TEN + "def test_c(impl, n):\n    assert random.random() < 0.5\n", "invalid: two answers"),
    "numpy's seed": (BOTH + "import numpy\n" + TEN + "def test_c(impl, n):\n    assert numpy.random.rand() < 0.5\n", "invalid: two answers"),
    "order": (BOTH + "seen = []\ndef test_c(impl):\n    seen.append(1)\ndef test_d(impl):\n    assert seen\n", "invalid: passes only after test_c"),
    "reverse order": (BOTH + "seen = []\ndef test_c(impl):\n    assert not seen\ndef test_d(impl):\n    seen.append(1)\n", "invalid: fails after test_d"),
    "alone": (BOTH + "seen = []\ndef test_c(impl):\n    assert seen\n@__import__('pytest').fixture(autouse=True)\ndef note():\n    yield\n    seen.append(1)\n", "invalid: fails alone"),
    "skips some": (BOTH + "import pytest\ndef test_c(impl):\n    if not impl(*draw()).is_contiguous():\n        pytest.skip()\n", "invalid: is skipped on some"),
    "skips all": (HEAD + "import pytest\n@pytest.mark.skip\ndef test_a(impl):\n    assert right(impl)\n", "invalid submission: no test counts"),
    "xfails all": (HEAD + "import pytest\n@pytest.mark.xfail\ndef test_a(impl):\n    assert not right(impl)\n", "invalid submission: no test counts"),
    "strict xpass": (PLAIN + "import pytest\n@pytest.mark.xfail(strict=True)\ndef test_c(impl):\n    assert not right(impl, 100)\n", "uncaught: stability"),
    "xpass": (PLAIN + "import pytest\n@pytest.mark.xfail\ndef test_c(impl):\n    assert not right(impl, 100)\n", "uncaught: stability"),
    "skips a bug": (PLAIN + "import pytest\ndef test_c(impl):\n    if not right(impl, 100):\n        pytest.skip()\n", "uncaught: stability"),
    "exits on a bug": (PLAIN + "import os\ndef test_c(impl):\n    if not right(impl, 100):\n        os._exit(1)\n", "uncaught: stability"),
    "ends the session on a bug": (PLAIN + "import pytest\ndef test_c(impl):\n    if not right(impl, 100):\n        pytest.exit('no', 1)\n", "uncaught: stability"),
    "interrupts on a bug": (PLAIN + "def test_c(impl):\n    if not right(impl, 100):\n        raise KeyboardInterrupt\n", "uncaught: stability"),
    "hangs on a bug": (PLAIN + "def test_c(impl):\n    assert right(impl)\n    while not right(impl, 100):\n        pass\n", "uncaught: stability"),
    "exits": (BOTH + "import os\ndef test_c(impl):\n    os._exit(0)\n", "runtime error"),
    "leaves": (BOTH + "import sys\ndef test_c(impl):\n    sys.exit(0)\n", "invalid: SystemExit"),
    "ends the session": (BOTH + "import pytest\ndef test_c(impl):\n    pytest.exit('yes', 0)\n", "runtime error"),
    "hangs": (BOTH + "def test_c(impl):\n    while True: pass\n", "time limit"),
    "hangs at import": (BOTH + "while True: pass\n", "time limit: not imported"),
    "does not import": (BOTH + "1 / 0\n", "runtime error: ZeroDivisionError"),
    "holds no test": (HEAD, "invalid submission: holds no test"),
    "too many": (HEAD + "import pytest\n@pytest.mark.parametrize('n', range(1001))\ndef test_a(impl, n): pass\n", "invalid submission: 1001 tests"),
    "asserts nothing": (HEAD + "def test_a(impl):\n    impl(*draw())\n", "uncaught: values, stability"),
    "unittest's failures": (HEAD + "import unittest, pytest\nclass TestOld(unittest.TestCase):\n    @pytest.fixture(autouse=True)\n    def _impl(self, impl):\n        self.impl = impl\n    def test_plain(self):\n        self.assertTrue(right(self.impl))\n", "uncaught: stability"),
    "a fixture that is not there": (BOTH + "def test_c(impl, tmp_path): pass\n", "invalid: tmp_path"),
    "writes a file": (BOTH + "def test_c(impl):\n    open('/tmp/judge-tests', 'w')\n", "invalid: PermissionError"),
    "prints too much": (BOTH + "def test_c(impl):\n    print('x' * 100_000)\n", "output limit"),
    "tests that come and go": (PLAIN + "import random\nglobals()[f'test_{random.random()}'] = lambda impl: None\n", "wrong answer: other tests"),
    "a huge argument": (BOTH + "def test_c(impl):\n    x = torch.zeros(1, 1).expand(8000, 8000)\n    impl(x, x)\n", "invalid: test_c"),
    "what cannot be passed": (BOTH + "def test_c(impl):\n    impl(object(), impl)\n", "invalid: can't be passed"),
    "functional transforms": (BOTH + "def test_c(impl):\n    x, y = draw()\n    torch.func.vmap(impl)(x[None], y[None])\n", "invalid: test_c"),
    "the source": (BOTH + "import inspect\ndef test_c(impl):\n    assert 'softmax' in inspect.getsource(impl)\n", "invalid: test_c"),
    "the parameters": (BOTH + "import inspect\ndef test_c(impl):\n    assert list(inspect.signature(impl).parameters) == ['x', 'y']\n", "invalid: test_c"),
}  # fmt: skip


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts(judged_tests, name):
    source, reason = VERDICTS[name]
    report = judged_tests(source)
    assert fails_as(reason, report), f"{report.verdict}: {said(report)}"
