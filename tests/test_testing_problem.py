"""A problem whose answer is a file of tests: what its folder must hold, and what its proof says of a bad one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import TINY
from wording import assert_reads_well

from judge import verify_tests
from judge.catalog import load_problem
from judge.errors import ProblemError
from judge.report import proof as writing
from judge.testing.implementations import load_implementations
from judge.verify import Proof, verify

TOML, MUTANTS, REWRITE = "problem.toml", "hidden/mutants.toml", "hidden/rewrites/columns.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The tiny problem and the one whose contract it is about, to be changed at will."""
    for name in ("softmax", "softmax-tests"):
        shutil.copytree(TINY / name, tmp_path / "problems" / name)
    return tmp_path / "problems" / "softmax-tests"


def change(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def load(folder: Path) -> None:
    load_problem("softmax-tests", folder=folder.parent)
    load_implementations(folder)


FAULTS = [
    (TOML, 'contract = "softmax"', "", "contract is missing"),
    (TOML, 'contract = "softmax"', 'contract = "sofmax"', "did you mean softmax?"),
    (TOML, '"(x, y)"', '"(x, y, z)"', "entry_points differ from those of softmax"),
    (TOML, 'kind = "tests"', 'kind = "code"', "cases.py: the file is missing"),
    (TOML, "points = 1", 'oracle = "reference.norms"', "oracle has no meaning"),
    (TOML, "points = 1", 'closed = ["norms"]', "closed has no meaning"),
    (MUTANTS, 'behaviour = "stability"', 'behaviour = "grace"', "behaviour = 'grace'"),
    (MUTANTS, 'behaviour = "stability"', 'kills = ["plain"]', "kills"),
    (MUTANTS, 'behaviour = "stability"', "", "behaviour is missing"),
    (REWRITE, "# style: ", "# ", "says no style"),
]


@pytest.mark.parametrize(("name", "before", "after", "complaint"), FAULTS)
def test_a_fault_of_the_folder_is_named(folder, name, before, after, complaint):
    change(folder / name, before, after)
    with pytest.raises(ProblemError) as raised:
        load(folder)
    assert complaint in str(raised.value)
    assert_reads_well(str(raised.value))


def proven(folder: Path, engine, monkeypatch: pytest.MonkeyPatch, **least: int) -> Proof:
    monkeypatch.setattr(verify_tests, "LEAST", dict.fromkeys(verify_tests.LEAST, 0) | least)
    (proof,) = verify([load_problem("softmax-tests", folder=folder.parent)], engine, seed=3)
    return proof


def test_a_small_problem_is_proven_but_for_its_numbers(folder, engine, monkeypatch):
    (folder / "hidden" / "exemplars" / "fail_nothing.py").write_text(
        "# fails: uncaught: values, stability\nimport torch\n\n\ndef test_a(impl):\n    impl(torch.ones(1, 1), torch.ones(1, 1))\n"
    )
    proof = proven(folder, engine, monkeypatch, mutants=4)
    assert proof.complaints == ["hidden/ has 3 mutants; write at least 4"]
    assert (proof.rewrites, proof.cases) == (2, ["fail_nothing", "pass_plain"])
    assert proof.kills == dict.fromkeys(("wrong_axis", "not_stable", "one_minus"), ["pass_plain"])
    assert "2 exemplars, 3 mutants, 2 rewrites, " in writing.render(proof)


def test_implementations_and_exemplars_that_are_not_what_they_say(folder, engine, monkeypatch):
    change(folder / REWRITE, "return powers / total[:, None]", "return powers")
    change(folder / MUTANTS, "return 1 - exponentials / total", "return exponentials / (total + 0)")
    exemplars = folder / "hidden" / "exemplars"
    exemplars.joinpath("fail_unsaid.py").write_text("def test_a(impl): pass\n")
    exemplars.joinpath("fail_otherwise.py").write_text("# fails: invalid: order\ndef test_a(impl): pass\n")
    shutil.copy(exemplars / "pass_plain.py", folder / "stub.py")
    said = "\n".join(proven(folder, engine, monkeypatch).complaints)
    for complaint in (
        "hidden/rewrites/columns.py gets 'wrong answer'",
        "mutant 'one_minus' is accepted",
        "fail_unsaid.py: is named neither pass_ nor fail_, or its first line",
        "fail_otherwise.py does not fail as its first line says",
        "pass_plain.py gets 'wrong answer'",
    ):
        assert complaint in said


def test_a_contract_is_for_tests_only(folder):
    change(folder.parent / "softmax" / TOML, "points = 1", 'contract = "softmax-tests"')
    with pytest.raises(ProblemError, match='is for kind = "tests" only'):
        load_problem("softmax", folder=folder.parent)
