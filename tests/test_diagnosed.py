"""Wrong submissions that are no edits of a reference: the diagnosis has to name their bugs from behaviour alone."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

import pytest

from judge.catalog import find_problem
from judge.models import Diagnosis, Report
from judge.mutants import load_mutants
from judge.pipeline import OpenProblem
from judge.submission import read_submission

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parent / "diagnosed"
DRAWN = tomllib.loads((FOLDER / "drawn.toml").read_text(encoding="utf-8"))
LEAST = 0.9  # of the submissions, whose first name has to be the right one


slow = pytest.mark.slow


@pytest.fixture(scope="module")
def reports(engine) -> dict[str, Report]:
    found = {}
    for problem_id, names in groupby(DRAWN, key=lambda name: DRAWN[name][0]):
        problem = find_problem(problem_id)
        opened = OpenProblem(problem, engine, seed=7)
        for name in names:
            found[name] = opened.judge(read_submission(FOLDER / f"{name}.py", problem), streams=False)
        opened.close()
    return found


def named(diagnosis: Diagnosis | None) -> list[str]:
    return [] if diagnosis is None else [like.mutant for like in diagnosis.mutants]


def test_the_collection_is_whole():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(DRAWN)
    assert len(DRAWN) == 100
    assert len({problem for problem, _ in DRAWN.values()}) >= 20
    for problem in {problem for problem, _ in DRAWN.values()}:
        known = {mutant.name for mutant in load_mutants(find_problem(problem).folder)}
        assert known.issuperset(mutant for other, mutant in DRAWN.values() if other == problem)


@slow
def test_every_one_is_refused(reports):
    assert [name for name, report in reports.items() if report.exit_code != 1] == []


@slow
def test_nine_in_ten_are_named_first(reports):
    wrong = {name: named(report.diagnosis) for name, report in reports.items()}
    wrong = {name: names for name, names in wrong.items() if names[:1] != [DRAWN[name][1]]}
    assert len(wrong) <= (1 - LEAST) * len(DRAWN), wrong


@slow
def test_the_word_exactly_never_goes_with_a_wrong_name(reports):
    exact = {name: r.diagnosis for name, r in reports.items() if r.diagnosis and r.diagnosis.strength == "exactly"}
    assert len(exact) > 70
    assert {name: named(found) for name, found in exact.items() if DRAWN[name][1] not in named(found)} == {}
