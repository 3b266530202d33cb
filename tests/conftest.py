"""Fixtures: one engine for the whole run, and a tiny problem with short limits to throw submissions at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judge.catalog import load_problem
from judge.models import Problem, Report
from judge.pipeline import submit
from judge.processes.supervision import Engine

TINY = Path(__file__).parent / "tiny_problems"
Judged = Callable[[str], Report]


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """The way of this system: forked workers where that is safe."""
    with Engine() as started:
        yield started


@pytest.fixture(scope="session")
def softmax() -> Problem:
    return load_problem("softmax", folder=TINY)


@pytest.fixture
def judged(tmp_path: Path, softmax: Problem, engine: Engine) -> Judged:
    """Write a source to a file and judge it on the tiny problem."""

    def judge(source: str) -> Report:
        path = tmp_path / "answer.py"
        path.write_text(source, encoding="utf-8")
        return submit(softmax, path, engine)

    return judge


@pytest.fixture
def judged_tests(tmp_path: Path, engine: Engine) -> Judged:
    """Write a file of tests and judge it on the tiny problem about them."""

    def judge(source: str) -> Report:
        path = tmp_path / "answer.py"
        path.write_text(source, encoding="utf-8")
        return submit(load_problem("softmax-tests", folder=TINY), path, engine)

    return judge
