"""What each mutant fails, kept beside a problem: believed only while the problem is what it was."""

from __future__ import annotations

import shutil

import pytest
from conftest import TINY

from judge import kill_matrix
from judge.kill_matrix import KILLS

KNOWN = {"wrong_axis": ["plain", "one_row"], "other": []}


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(TINY / "softmax", tmp_path / "softmax")
    return tmp_path / "softmax"


def test_what_is_kept_is_known(folder):
    assert kill_matrix.load(folder) == {}
    assert kill_matrix.keep(folder, KNOWN)
    assert kill_matrix.load(folder) == {name: frozenset(cases) for name, cases in KNOWN.items()}


@pytest.mark.parametrize("file", ["cases.py", "hidden/reference.py", "hidden/mutants.toml"])
def test_nothing_is_known_of_changed_sources(folder, file):
    kill_matrix.keep(folder, KNOWN)
    path = folder / file
    path.write_text(path.read_text() + "\n# changed\n")
    assert kill_matrix.load(folder) == {}
    assert kill_matrix.keep(folder, {"wrong_axis": ["plain"]})
    assert kill_matrix.load(folder) == {"wrong_axis": {"plain"}}


def test_other_line_ends_are_no_change(folder):
    kill_matrix.keep(folder, KNOWN)
    path = folder / "cases.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert kill_matrix.load(folder)


def test_what_was_found_by_chance_in_another_proof_changes_nothing_unless_it_is_asked_for(folder):
    kill_matrix.keep(folder, KNOWN)
    text = (folder / KILLS).read_text()
    assert not kill_matrix.keep(folder, {"wrong_axis": ["plain"]})
    assert (folder / KILLS).read_text() == text
    assert kill_matrix.keep(folder, {"wrong_axis": ["plain"]}, anew=True)
    assert kill_matrix.load(folder) == {"wrong_axis": {"plain"}}


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"kills": 3}', '{"kills": {"a": 1}}', '{"kills": {"a": []}}'])
def test_a_file_of_another_form_tells_nothing(folder, text):
    (folder / KILLS).write_text(text)
    assert kill_matrix.load(folder) == {}
