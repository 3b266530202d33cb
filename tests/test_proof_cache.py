"""Proofs that are kept: found again while nothing has changed, and never in place of another."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import TINY

from judge import kill_matrix, proof_cache
from judge.catalog import load_problem
from judge.verify import Proof


@pytest.fixture
def problem(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(TINY / "softmax", tmp_path / "softmax")
    return load_problem("softmax", folder=tmp_path)


def proof(**facts) -> Proof:
    return Proof("softmax", **({"cases": ["plain"], "kills": {"wrong_axis": ["plain"]}, "seconds": 1.5} | facts))


def test_a_kept_proof_is_recalled_whole(problem):
    assert proof_cache.recall(problem) is None
    proof_cache.keep(problem, proof())
    assert proof_cache.recall(problem) == proof(remembered=True)


def test_a_proof_with_complaints_is_not_kept(problem):
    proof_cache.keep(problem, proof(complaints=["the stub is accepted"]))
    assert proof_cache.recall(problem) is None


@pytest.mark.parametrize("file", ["cases.py", "hidden/mutants.toml", "hidden/another.py"])
def test_any_change_of_the_folder_asks_for_a_new_proof(problem, file):
    proof_cache.keep(problem, proof())
    path = problem.folder / file
    path.write_text((path.read_text() if path.exists() else "") + "\n# changed\n")
    assert proof_cache.recall(problem) is None


def test_what_a_proof_keeps_in_the_folder_asks_for_no_new_one(problem):
    proof_cache.keep(problem, proof())
    assert kill_matrix.keep(problem.folder, proof().kills)
    assert proof_cache.recall(problem)


def test_another_torch_asks_for_a_new_proof(problem, monkeypatch):
    proof_cache.keep(problem, proof())
    proof_cache._surroundings.cache_clear()
    monkeypatch.setattr(proof_cache.metadata, "version", lambda name: "1.0")
    assert proof_cache.recall(problem) is None
    proof_cache._surroundings.cache_clear()


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"problem": "softmax", "unheard_of": 1}'])
def test_a_file_that_is_no_proof_counts_as_none(problem, text):
    proof_cache.keep(problem, proof())
    (kept,) = Path(proof_cache.folder()).iterdir()
    kept.write_text(text)
    assert proof_cache.recall(problem) is None
