"""Many submissions to one problem, locked in: how many a second, beside a pytest process for each.

    python benchmarks/batch.py [SUBMISSIONS]

The same right file is judged again and again by `judge.batch`, with one worker and with two, for a problem of few small
cases and for one of many. What a course would otherwise do stands beside it: for each submission a pytest process that
imports torch and the file and asserts, with the same inputs and expected values, what the first problem's calls give.
The processor time of a submission is that of all processes, beside one that makes the same runs and comparisons.
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
from judge.pipeline import OpenProblem, case_names, case_script  # noqa: E402
from judge.processes.supervision import Engine  # noqa: E402
from judge.submission import read_submission  # noqa: E402

FEW, MANY = "layer-norm", "pre-norm-vs-post-norm"
_LIMITS = {FEW: 30.0, MANY: 12.0}  # submissions a second, two workers
_TIMES_PYTEST = 20.0
_PYTEST_RUNS = 3
_TIMES_ALONE = 2.0
_COUNTED = 40  # submissions whose processor time is measured; draws and references, one for fifty, are left out
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
_ALONE = """
import time
import torch
from judge.catalog import find_problem
from judge.drawn import DrawnProblem, load

torch.set_num_threads(1)
problem = find_problem({name!r})
signatures = {{entry.name: dict(entry.signatures) for entry in problem.entry_points}}
drawn = DrawnProblem(problem.folder, problem.id, 1, signatures, [])
drawn.run_reference()


def judge():
    answer = load(problem.folder / "hidden" / "reference.py")
    for case in drawn.cases:
        assert drawn.judge_case(case, [drawn.observe(answer, call) for call in case.calls]).passed


judge()
started = time.process_time()
for _ in range({count}):
    judge()
print((time.process_time() - started) / {count})
"""


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    speeds = {}
    for name in (FEW, MANY):
        for workers in (1, 2):
            speeds[name, workers] = rate(name, workers, count)
            limit = f"   limit {_LIMITS[name]:g}" if workers == 2 else ""
            print(f"{name:24} {workers} workers {speeds[name, workers]:7.1f} submissions a second{limit}", flush=True)
    for name in (FEW, MANY):
        spent, alone = processor_seconds(name), in_one_process(name)
        print(
            f"{name:24} {1000 * spent:.0f} ms of processor time a submission, {1000 * alone:.0f} ms in one process: "
            f"{spent / alone:.2f}   limit {_TIMES_ALONE:g}: {'kept' if spent <= _TIMES_ALONE * alone else 'MISSED'}"
        )
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


def processor_seconds(name: str) -> float:
    """Processor time of one submission, of all processes: this one, the zygote, and those that it forks."""
    problem = find_problem(name)
    submission = read_submission(problem.folder / "hidden" / "reference.py", problem)
    with Engine() as engine, contextlib.closing(OpenProblem(problem, engine, seed=1)) as opened:
        taken = []
        for count in (2, _COUNTED):  # the first ones begin when everything is drawn
            before = _spent(engine)
            for _ in range(count):
                assert opened.judge(submission, diagnose=False, streams=False).verdict == "accepted"
            taken.append(_spent(engine) - before)
    return taken[1] / _COUNTED


def _spent(engine: Engine) -> float:
    """Seconds of this process, of the zygote's processes that have ended, and of those that live."""
    assert engine._zygote
    zygote = engine._zygote.pid
    living = Path(f"/proc/{zygote}/task/{zygote}/children").read_text().split()
    ticks = _ticks(zygote) + sum(_ticks(int(child)) for child in living)
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def _ticks(process: int) -> int:
    """Its own time and that of its children that have ended, in user mode and in the kernel."""
    return sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15]))


def in_one_process(name: str) -> float:
    """Processor time of the same runs and comparisons, one after the other in a process of their own."""
    command = [sys.executable, "-c", _ALONE.format(name=name, count=_COUNTED)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout)


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
