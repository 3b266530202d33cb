"""Many submissions at once: each gets its own verdict, and nothing is left over or grows."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from pathlib import Path

import pytest
from conftest import TINY
from sample_reports import report

from judge import batch
from judge.batch import _AHEAD, _Desk, judge_all
from judge.catalog import load_problem
from judge.errors import UsageError
from judge.models import Report
from judge.report import grades
from judge.submission import read_submission
from judge.workspace import python_files

RIGHT = "import torch\n\n\ndef solve(x, y):\n    return torch.softmax(x @ y, -1)\n"
KINDS = {
    "accepted": RIGHT,
    "wrong answer": RIGHT.replace("return", "return 1 -"),
    "runtime error": RIGHT.replace("x @ y", "x @ z"),
    "invalid submission": "def solve(x, y:\n",
}


@pytest.fixture
def problem():
    return load_problem("softmax", folder=TINY)


def written(folder: Path, times: int) -> list[Path]:
    for number in range(times):
        for verdict, source in KINDS.items():
            (folder / f"{verdict.replace(' ', '_')}_{number:03}.py").write_text(source)
    return sorted(folder.iterdir())


def test_each_file_gets_its_own_verdict(tmp_path, engine, problem):
    files = written(tmp_path, 3)
    reports = list(judge_all(problem, files, engine, workers=2))
    assert [one.file for one in reports] == [str(path) for path in files]
    for one in reports:
        assert Path(one.file).stem.startswith(one.verdict.replace(" ", "_"))


def test_whoever_leaves_waits_for_nothing(tmp_path, engine, problem):
    limits = problem.limits.model_copy(update={"import_seconds": 3600})
    files = written(tmp_path, 1)[:1]
    for name in ("x", "y"):
        files.append(tmp_path / f"{name}.py")
        files[-1].write_text(f"{RIGHT}\nwhile True:\n    pass\n")
    reports = judge_all(problem.model_copy(update={"limits": limits}), files, engine, workers=2)
    assert next(reports).verdict == "accepted"
    reports.close()


def test_a_report_that_is_ready_early_waits_for_those_before_it(monkeypatch, engine, problem):
    others = threading.Semaphore(0)

    def judge(desk: _Desk, path: Path) -> Report:
        if path.name == "0.py":
            assert all(others.acquire(timeout=60) for _ in range(5))  # the others are judged meanwhile
        else:
            others.release()
        return report("accepted", file=str(path))

    monkeypatch.setattr(_Desk, "judge", judge)
    files = [Path(f"{number}.py") for number in range(6)]
    assert [one.file for one in judge_all(problem, files, engine, workers=2)] == [str(path) for path in files]


def test_not_all_files_are_judged_before_anybody_takes_a_report(monkeypatch, engine, problem):
    judged = []
    monkeypatch.setattr(_Desk, "judge", lambda desk, path: judged.append(path) or report("accepted", file=str(path)))
    reports = judge_all(problem, (Path(f"{number}.py") for number in range(1000)), engine, workers=2)
    next(reports)
    reports.close()
    assert len(judged) <= 2 * _AHEAD + 1


def test_descriptors_and_processes_don_t_grow_with_the_files(tmp_path, engine, problem):
    written(tmp_path, 20)
    counted = []
    for number, _ in enumerate(judge_all(problem, python_files([tmp_path]), engine, workers=2)):
        if number in (20, 75):
            counted.append((len(os.listdir("/proc/self/fd")), len(engine._workers)))
    (early, _), (late, workers) = counted
    assert late <= early + 12  # pipes of the submissions that are on their way
    assert workers <= 8


def test_whoever_stops_reading_ends_the_work(tmp_path, engine, problem):
    reports = judge_all(problem, written(tmp_path, 5), engine, workers=2)
    next(reports)
    reports.close()
    assert list(judge_all(problem, [tmp_path / "accepted_000.py"], engine))[0].verdict == "accepted"


def test_a_broken_problem_is_a_judge_error_for_each(tmp_path, engine, problem):
    broken = problem.model_copy(update={"folder": tmp_path / "nowhere"})
    (tmp_path / "answer.py").write_text(RIGHT)
    (one,) = judge_all(broken, [tmp_path / "answer.py"], engine)
    assert one.verdict == "judge error"


def test_a_mistake_of_ours_with_one_file_is_told_and_the_others_are_judged(monkeypatch, tmp_path, engine, problem):
    paths = [tmp_path / name for name in ("one.py", "two.py")]
    for path in paths:
        path.write_text(RIGHT, encoding="utf-8")

    def reading(path, problem):
        if path == paths[0]:
            raise RecursionError("too deep")
        return read_submission(path, problem)

    monkeypatch.setattr(batch, "read_submission", reading)
    first, second = judge_all(problem, paths, engine, workers=1)
    assert (first.verdict, second.verdict) == ("judge error", "accepted")
    assert "RecursionError: too deep" in first.message


def test_files_and_folders_are_listed_once_each(tmp_path):
    (tmp_path / "anna").mkdir()
    (tmp_path / "anna" / "a.py").write_text("")
    (tmp_path / "b.py").write_text("")
    assert python_files([tmp_path / "b.py", tmp_path]) == [tmp_path / "b.py", tmp_path / "anna" / "a.py"]
    with pytest.raises(UsageError, match="no such file"):
        python_files([tmp_path / "c.py"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no .py file"):
        python_files([tmp_path / "empty"])


def test_lines_name_the_verdict_and_the_first_failure(tmp_path, engine, problem):
    files = written(tmp_path, 1)
    reports = {one.verdict: one for one in judge_all(problem, files, engine, diagnose=True)}
    lines = {verdict: grades.line(one) for verdict, one in reports.items()}
    assert lines["wrong answer"].split()[:3] == ["0/1", "wrong", "answer"]
    assert lines["wrong answer"].endswith("plain: your code behaves exactly like one that gives the complement")
    assert lines["invalid submission"].endswith(" line 1: '(' was never closed")
    rows = {verdict: json.loads(grades.row(one)) for verdict, one in reports.items()}
    assert rows["wrong answer"]["diagnosis"] == ["one_minus"]
    assert rows["accepted"]["failed"] == []
    assert rows["invalid submission"]["line"] == 1
    told = grades.total(Counter(rows.keys()), 2.0)
    assert "4 submissions in 2.0 s: " in told
    assert "1 accepted" in told
