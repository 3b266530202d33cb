"""`judge new`: the folder is one that can be read, verified, and is refused with what to do."""

from __future__ import annotations

import ast

import pytest
from wording import assert_reads_well

from judge.catalog import load_problem
from judge.errors import UsageError
from judge.pipeline import submit
from judge.scaffold import STEPS, make
from judge.verify import verify


def test_a_new_folder_is_read_without_complaint_and_refused_by_verify(tmp_path, engine):
    home = make("my-own-norm", tmp_path)
    problem = load_problem("my-own-norm", tmp_path)
    assert problem.title == "My own norm"
    assert [entry.name for entry in problem.entry_points] == ["my_own_norm"]
    assert len(problem.hints) == 3
    (proof,) = verify([problem], engine)
    assert not proof.ok
    assert "write hidden/reference.py" in proof.complaints[0]
    assert submit(problem, home / "stub.py", engine).verdict == "judge error"


def test_every_step_is_a_file_of_the_folder_or_of_the_house(tmp_path):
    home = make("one", tmp_path)
    for name, what in STEPS:
        assert (home / name).exists() or name == "reference/"
        assert_reads_well(what)
    for path in home.rglob("*.py"):
        ast.parse(path.read_text(encoding="utf-8"))


def test_an_entry_point_never_begins_with_a_digit(tmp_path):
    assert "def solve_2d_norm(x):" in (make("2d-norm", tmp_path) / "stub.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["", "My Norm", "norm_", "../norm", "-norm"])
def test_what_is_no_id_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match="is no id"):
        make(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_left_alone(tmp_path):
    home = make("norm", tmp_path)
    (home / "cases.py").write_text("mine")
    with pytest.raises(UsageError, match="there is a problem of this id"):
        make("norm", tmp_path)
    assert (home / "cases.py").read_text() == "mine"
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="can't be written"):
        make("norm", tmp_path / "file")
