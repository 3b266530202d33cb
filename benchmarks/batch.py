"""Many submissions to one problem, locked in: how many a second, beside a pytest process for each.

    python benchmarks/batch.py [SUBMISSIONS]

The same right file is judged again and again by `judge.batch`, with one worker and with two, for a problem of few small
cases and for one of many. What a course would otherwise do stands beside it: for each submission a pytest process that
imports torch and the file and asserts, with the same inputs and expected values, what the first problem's calls give.
"""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judge.batch import judge_all  # noqa: E402
from judge.catalog import find_problem  # noqa: E402
from judge.pipeline import case_names, case_script  # noqa: E402
from judge.processes.supervision import Engine  # noqa: E402

FEW, MANY = "layer-norm", "pre-norm-vs-post-norm"
_LIMITS = {FEW: 30.0, MANY: 12.0}  # submissions a second, two workers
_TIMES_PYTEST = 20.0
_PYTEST_RUNS = 3
_TEST = """
import os
import runpy
import sys

import pytest
import torch

sys.argv = ["case", {answer!r}]


@pytest.mark.parametrize("script", {scripts!r})
def test_case(script):
    given = {{name: value for name, value in runpy.run_path(script).items() if isinstance(value, torch.Tensor)}}
    kept = script + ".pt"
    if not os.path.exists(kept):
        torch.save(given, kept)
    for name, expected in torch.load(kept).items():
        torch.testing.assert_close(given[name], expected)
"""


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    speeds = {}
    for name in (FEW, MANY):
        for workers in (1, 2):
            speeds[name, workers] = rate(name, workers, count)
            limit = f"   limit {_LIMITS[name]:g}" if workers == 2 else ""
            print(f"{name:24} {workers} workers {speeds[name, workers]:7.1f} submissions a second{limit}", flush=True)
    seconds = pytest_seconds(FEW)
    times = speeds[FEW, 2] * seconds / 2  # two pytest processes side by side take as long as one
    print(f"{FEW:24} pytest    {2 / seconds:7.1f} submissions a second, two at a time")
    print(
        f"{times:.0f} times as fast as that   limit {_TIMES_PYTEST:g}: {'kept' if times >= _TIMES_PYTEST else 'MISSED'}"
    )
    print(f"this process grew to {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def rate(name: str, workers: int, count: int) -> float:
    """Submissions a second, the starts of the workers left out; descriptors and memory must not grow meanwhile."""
    problem = find_problem(name)
    file = problem.folder / "hidden" / "reference.py"
    with Engine() as engine:
        reports = judge_all(problem, [file] * (count + 10), engine, workers=workers)
        for _ in range(10):
            next(reports)
        started, open_files = time.monotonic(), len(os.listdir("/proc/self/fd"))
        for number, report in enumerate(reports, start=1):
            assert report.verdict == "accepted", report.failed
            if number == count // 2:
                open_files = len(os.listdir("/proc/self/fd"))
        seconds = time.monotonic() - started
        assert len(os.listdir("/proc/self/fd")) <= open_files + 16
    return count / seconds


def pytest_seconds(name: str) -> float:
    """Seconds of one pytest process that makes the same calls of the same file and compares what they give."""
    problem = find_problem(name)
    with tempfile.TemporaryDirectory() as folder, Engine() as engine:
        scripts = []
        for case in case_names(problem):
            path = Path(folder) / f"{case}.py"
            path.write_text(case_script(problem, engine, case, 1), encoding="utf-8")
            scripts.append(str(path))
        test, answer = Path(folder) / "test_answer.py", problem.folder / "hidden" / "reference.py"
        test.write_text(_TEST.format(scripts=scripts, answer=str(answer)), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
        taken = []
        for _ in range(1 + _PYTEST_RUNS):  # the first run writes what is expected
            started = time.monotonic()
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            taken.append(time.monotonic() - started)
    return sorted(taken[1:])[_PYTEST_RUNS // 2]


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
