"""A file of twelve tests on all implementations of attention-tests, warm, beside `import torch`.

    python benchmarks/tests_kind.py [RUNS]

One engine judges the file again and again; the first time, which imports torch and pytest, is left out.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judge.catalog import find_problem  # noqa: E402
from judge.pipeline import submit  # noqa: E402
from judge.processes.supervision import Engine  # noqa: E402
from judge.testing.implementations import load_implementations  # noqa: E402

SECONDS = 5.0  # the limit on two cores, for 30 implementations
TWELVE = """
import pytest
import torch


def expected(query, key, value, mask):
    hidden = ~torch.ones(5, 7, dtype=torch.bool) if mask is None else ~mask
    scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(hidden, -1e300)
    weights = scores.softmax(-1).masked_fill(hidden, 0.0)
    return weights @ value, weights


@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("graded", [False, True])
def test_values(impl, leading, masked, graded):
    shapes = ((5, 8), (7, 8), (7, 4))
    given = [torch.randn(*leading, *shape, dtype=torch.float64, requires_grad=graded) for shape in shapes]
    mask = torch.rand(5, 7) < 0.6 if masked else None
    found, wanted = impl(*given, mask), expected(*given, mask)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-9)
    if graded:
        for one, other in zip(
            torch.autograd.grad(found[0].sum(), given), torch.autograd.grad(wanted[0].sum(), given), strict=True
        ):
            torch.testing.assert_close(one, other, rtol=1e-7, atol=1e-8)
"""


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    problem = find_problem("attention-tests")
    correct, wrong = load_implementations(problem.folder)
    judging, importing = [], []
    with tempfile.TemporaryDirectory() as folder, Engine() as engine:
        path = Path(folder, "twelve.py")
        path.write_text(TWELVE, encoding="utf-8")
        report = submit(problem, path, engine)
        assert len(report.cases) == 12, report.message
        for _ in range(runs):
            started = time.perf_counter()
            submit(problem, path, engine)
            judging.append(time.perf_counter() - started)
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", "import torch"], check=True)
            importing.append(time.perf_counter() - started)
    took, torch = statistics.median(judging), statistics.median(importing)
    print(f"{len(report.cases)} tests, {len(correct)} correct implementations (twice), {len(wrong)} wrong ones")
    print(f"medians of {runs}: judging {took:.2f} s (least {min(judging):.2f}), import torch {torch:.2f} s")
    thirty = took * 30 / (len(correct) + len(wrong))
    print(f"for 30 implementations {thirty:.2f} s, {thirty / torch:.1f} times import torch")
    print(f"limit {SECONDS:g} s: {'kept' if thirty <= SECONDS else 'MISSED'}")


if __name__ == "__main__":
    main()
