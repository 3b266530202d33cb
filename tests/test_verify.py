"""The proof of a problem: the tiny one, made complete, is proven, and each way to break it brings its complaint."""

from __future__ import annotations

import itertools
import math
import shutil
from pathlib import Path

import pytest
from conftest import TINY
from wording import assert_reads_well

from judge import verify as module
from judge.catalog import load_problem
from judge.junk import junk
from judge.verify import verify

ORACLES = """

import sys
import types

import torch

right = types.ModuleType("right")
right.solve = lambda x, y: torch.softmax(x @ y, -1)
wrong = types.ModuleType("wrong")
wrong.solve = lambda x, y: torch.softmax(x @ y, 0)
rough = types.ModuleType("rough")
rough.solve = lambda x, y: torch.softmax((x @ y).float(), -1).double()
empty = types.ModuleType("empty")
sys.modules.update(right=right, wrong=wrong, rough=rough, empty=empty)
"""
WIDE = """

@case
def many_columns(draw):
    "sums over all columns"
    return call("solve", draw.normal(3, 4), draw.normal(4, 12))
"""
FIRST_EIGHT = """
[first_eight]
before = "total = exponentials.sum(dim=-1, keepdim=True)"
after = "total = exponentials[..., :8].sum(dim=-1, keepdim=True)"
kills = ["many_columns"]
what = "sums over the first eight columns"
idea = "a row has more columns than that"
"""
REWRITE = '"""In one expression."""\n\nimport torch\n\n\ndef solve(x, y):\n    return (x @ y).softmax(-1)\n'
ANY_ERROR = """

@case
def any_error(draw):
    "refuses a number"
    return call("solve", 3, 4).raises(Exception)
"""
BLIND = """
@relation
def form_only(draw):
    "has the right form"
    return [call("solve", draw.normal(2, 3), draw.normal(3, 2))], lambda observations: None
"""


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def append(path: Path, *texts: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + "".join(texts), encoding="utf-8")


def mutant(name, before, after, kills):
    listed = ", ".join(f'"{kill}"' for kill in kills)
    return (
        f'\n[{name}]\nbefore = "{before}"\nafter = "{after}"\nkills = [{listed}]\nwhat = "is {name}"\nidea = "is not"\n'
    )


def complete(folder: Path) -> Path:
    """A copy of the tiny problem with what it lacks to be proven."""
    for part in ("problem.toml", "statement.md", "stub.py", "cases.py", "hidden/reference.py", "hidden/mutants.toml"):
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TINY / "softmax" / part, folder / part)
    cases = (folder / "cases.py").read_text(encoding="utf-8")
    (folder / "cases.py").write_text(cases[: cases.index("@relation")].rstrip() + WIDE + ORACLES, encoding="utf-8")
    append(folder / "hidden" / "mutants.toml", FIRST_EIGHT)
    (folder / "hidden" / "rewrites").mkdir()
    (folder / "hidden" / "rewrites" / "one_line.py").write_text(REWRITE, encoding="utf-8")
    return folder


def drawing_reference(folder):
    edit(folder / "hidden" / "reference.py", "scores = x @ y", "scores = x @ y + 0 * torch.rand(1, dtype=x.dtype)")


def closed_reference_and_idle_cases(folder):
    uses = "scores = x @ y\n    torch.nn.functional.log_softmax(scores, -1)"
    edit(folder / "hidden" / "reference.py", "scores = x @ y", uses)
    edit(folder / "hidden" / "mutants.toml", FIRST_EIGHT, "")
    append(folder / "cases.py", ANY_ERROR)


def failing_reference(folder):
    edit(folder / "hidden" / "reference.py", "scores = x @ y", "scores = x @ z")


def impossible_mutant(folder):
    append(folder / "hidden" / "mutants.toml", mutant("odd", "return nothing", "return x", ["plain"]))


def wrong_solutions(folder):
    edit(folder / "stub.py", "raise NotImplementedError", "return (x @ y).softmax(-1)")
    rewrites = {
        "a_rough": REWRITE.replace("(x @ y)", "(x @ y).float()").replace("(-1)", "(-1).double()"),
        "b_wrong": REWRITE.replace("-1", "0"),
        "c_broken": "def solve(x, y:\n",
        "d_other": "def other(x, y):\n    return x\n",
        "e_right": REWRITE,
    }
    for name, text in rewrites.items():
        (folder / "hidden" / "rewrites" / f"{name}.py").write_text(text, encoding="utf-8")
    edit(folder / "hidden" / "mutants.toml", '["many_columns"]', '["many_columns", "plain", "nowhere"]')
    append(
        folder / "hidden" / "mutants.toml",
        mutant("the_same", "scores = x @ y", "scores = torch.matmul(x, y)", ["plain"]),
        mutant("mild", "return exponentials / total", "return exponentials / total * 1.0002", ["plain"]),
        mutant("again", "return exponentials / total", "return (total - exponentials) / total", ["plain"]),
    )


def blind_case(folder):
    cases = (folder / "cases.py").read_text(encoding="utf-8")
    (folder / "cases.py").write_text(cases[: cases.index("@case")] + BLIND + ORACLES, encoding="utf-8")


COPIES = {
    "complete": (lambda folder: None, "right"),
    "no-entry-point": (lambda folder: None, "empty"),
    "drawing": (drawing_reference, "rough"),
    "closed": (closed_reference_and_idle_cases, None),
    "failing": (failing_reference, "right"),
    "impossible": (impossible_mutant, "right"),
    "wrong": (wrong_solutions, "wrong"),
    "blind": (blind_case, "right"),
}


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def proofs(tmp_path_factory, engine, told):
    """The proofs of all copies by name; of the junk only the first pieces are tried."""
    problems = []
    for name, (spoil, oracle) in COPIES.items():
        folder = tmp_path_factory.mktemp(name)
        spoil(complete(folder / "softmax"))
        problem = load_problem("softmax", folder=folder)
        problems.append(problem.model_copy(update={"id": name, "oracle": oracle}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "junk", lambda *about: itertools.islice(junk(*about), 4))
        found = {proof.problem: proof for proof in verify(problems, engine, told.append, seed=3)}
    assert set(found) == set(COPIES)
    return found


def test_a_complete_problem_is_proven(proofs):
    proof = proofs["complete"]
    assert proof.complaints == []
    assert proof.ok
    assert proof.cases == ["plain", "large_scores", "many_columns"]
    assert proof.kills["first_eight"] == ["many_columns"]
    assert set(proof.kills) == {"wrong_axis", "not_stable", "one_minus", "first_eight"}
    assert (proof.rewrites, proof.junk) == (1, 4)
    assert proof.worst_rewrite < 1e-8
    assert 1e-3 < proof.mildest_mutant < math.inf
    assert proof.mildest_name in proof.kills


def test_the_way_of_a_submission_proves_the_same(tmp_path, engine, proofs, monkeypatch):
    monkeypatch.setattr(module, "junk", lambda *about: [])
    spoil, oracle = COPIES["wrong"]
    spoil(complete(tmp_path / "softmax"))
    problem = load_problem("softmax", folder=tmp_path).model_copy(update={"id": "wrong", "oracle": oracle})
    (proof,) = verify([problem], engine, seed=3, production=True)
    assert proof.kills == proofs["wrong"].kills
    assert proof.mildest_mutant == pytest.approx(proofs["wrong"].mildest_mutant, rel=1e-6)
    told = [c for c in proofs["wrong"].complaints if c.startswith("mutant")]
    assert [c for c in proof.complaints if c.startswith("mutant")] == told


def test_a_quick_proof_tries_a_mutant_on_the_cases_of_its_kills_and_asks_no_more(tmp_path, engine):
    complete(tmp_path / "softmax")
    problem = load_problem("softmax", folder=tmp_path).model_copy(update={"oracle": "right"})
    (whole,) = verify([problem], engine, seed=3)
    (quick,) = verify([problem], engine, seed=3, quick=True)
    assert quick.complaints == []
    assert quick.kills.keys() == whole.kills.keys()
    for name, killed in quick.kills.items():
        assert killed
        assert set(killed) <= set(whole.kills[name])
    assert sum(map(len, quick.kills.values())) < sum(map(len, whole.kills.values()))


def test_a_quick_proof_complains_of_a_kill_that_is_none(tmp_path, engine):
    complete(tmp_path / "softmax")
    path = tmp_path / "softmax" / "hidden" / "mutants.toml"
    append(
        tmp_path / "softmax" / "cases.py",
        "\n\n@case\ndef blind(draw):\n    'sees nothing'\n    return call('solve', 0 * draw.normal(3, 4), draw.normal(4, 3))\n",
    )
    path.write_text(
        path.read_text(encoding="utf-8").replace('kills = ["many_columns"]', 'kills = ["blind"]'), encoding="utf-8"
    )
    problem = load_problem("softmax", folder=tmp_path).model_copy(update={"oracle": "right"})
    (quick,) = verify([problem], engine, seed=3, quick=True)
    assert any("'first_eight' is accepted" in complaint for complaint in quick.complaints)


def test_a_mutant_that_never_ends_or_ends_its_process_is_judged_like_a_submission(tmp_path, engine, monkeypatch):
    monkeypatch.setattr(module, "junk", lambda *about: [])
    complete(tmp_path / "softmax")
    append(
        tmp_path / "softmax" / "hidden" / "mutants.toml",
        mutant("looping", "scores = x @ y", "while True: pass", ["plain"]),
        mutant("leaving", "scores = x @ y", "__import__('os')._exit(0)", ["plain"]),
    )
    problem = load_problem("softmax", folder=tmp_path)
    limits = problem.limits.model_copy(update={"call_seconds": 0.5, "submission_seconds": 2})
    (proof,) = verify([problem.model_copy(update={"limits": limits, "oracle": "right"})], engine, seed=3)
    assert proof.kills["looping"]
    assert proof.kills["leaving"]
    assert not [complaint for complaint in proof.complaints if "is accepted" in complaint]


def test_progress_is_told(proofs, told):
    steps = {(step.problem, step.now) for step in told}
    assert {("complete", "hidden/reference.py"), ("complete", "stub.py"), ("blind", "mutants")} <= steps
    complete = [step for step in told if step.problem == "complete"]
    assert [step.done for step in complete] == sorted(step.done for step in complete)
    assert {step.total for step in complete} == {7}  # reference, stub, one rewrite, four mutants
    assert complete[-1].done == 7


def test_every_complaint_reads_well(proofs):
    complaints = [complaint for proof in proofs.values() for complaint in proof.complaints]
    assert len(complaints) > 15
    for complaint in complaints:
        assert_reads_well(complaint)


def test_a_reference_that_is_not_accepted_is_named_with_its_reason(proofs):
    assert proofs["drawing"].complaints[0] == (
        "hidden/reference.py gets 'wrong answer' (seed 3): case 'plain': PyTorch's random generator the call draws "
        "from it or seeds it"
    )


def test_a_reference_that_uses_what_is_closed_is_named_with_the_line(proofs):
    assert proofs["closed"].complaints[0] == (
        "hidden/reference.py gets 'closed function used' (seed 3): it uses torch.nn.functional.log_softmax in line 9"
    )


def test_a_reference_that_fails_ends_the_proof(proofs):
    assert proofs["failing"].complaints == [
        "problems/failing/cases.py: case 'plain': the reference raises NameError: name 'z' is not defined"
    ]
    assert proofs["failing"].kills == {}


def test_a_problem_without_a_second_opinion_is_named(proofs):
    assert 'problem.toml names no oracle; add oracle = "reference.<module>"' in proofs["closed"].complaints


def test_an_oracle_that_defines_nothing_of_the_problem_is_named(proofs):
    assert proofs["no-entry-point"].complaints == [
        "problems/no-entry-point/problem.toml: oracle 'empty' defines no entry point"
    ]


def test_an_oracle_that_computes_less_precisely_is_named(proofs):
    assert any(
        complaint.startswith("the reference and its oracle rough differ by ")
        for complaint in proofs["drawing"].complaints
    )


def test_every_wrong_solution_is_named_for_itself(proofs):
    oracle, stub, rough, wrong, broken, other, *mutants = proofs["wrong"].complaints
    assert oracle.startswith("the reference and its oracle wrong disagree: plain: output differs in 3 of 3 rows")
    assert stub == "stub.py is accepted as it is; add a case that it fails"
    assert rough.startswith("hidden/rewrites/a_rough.py differs from the reference by ")
    assert rough.endswith("more than 1e-08")
    assert wrong.startswith("hidden/rewrites/b_wrong.py gets 'wrong answer' (seed 3): case 'plain': output differs in")
    assert broken.startswith("hidden/rewrites/c_broken.py gets 'invalid submission' (seed 3): ")
    assert other.startswith("hidden/rewrites/d_other.py gets 'invalid submission' (seed 3): ")
    assert "solve" in other
    assert mutants == [
        "mutant 'first_eight' passes the case 'plain' of its kills (seed 3)",
        "mutant 'first_eight' names a case 'nowhere' in kills, and there is none",
        "mutant 'the_same' is accepted (seed 3); add a case that sees it, or change an input",
        "mutant 'mild' differs by only 2.0e-04, less than 0.001; change an input",
        "mutants 'one_minus' and 'again' give equal observations on all cases; tell them apart or drop one",
    ]
    assert proofs["wrong"].rewrites == 6
    assert proofs["wrong"].worst_rewrite > 1e-8
    assert proofs["wrong"].mildest_name == "mild"
    assert proofs["wrong"].mildest_mutant == pytest.approx(2e-4, rel=1e-2)


def test_a_mutant_that_can_t_be_made_ends_the_proof(proofs):
    (complaint,) = proofs["impossible"].complaints
    assert "hidden/mutants.toml: odd" in complaint


def test_cases_that_only_easy_mutants_name_are_decoration(proofs):
    assert (
        "only one plain case may idle; name each of plain, many_columns, any_error in the kills of a mutant "
        "that fewer than half of the cases see"
    ) in proofs["closed"].complaints


def test_a_case_that_a_raising_submission_passes_is_named(proofs):
    assert "case 'any_error' passes a submission in which everything raises" in proofs["closed"].complaints


def test_junk_that_is_accepted_is_named(proofs):
    accepted = [complaint for complaint in proofs["blind"].complaints if complaint.startswith("junk is accepted")]
    assert accepted == [
        "junk is accepted: solve gives zeros",
        "junk is accepted: solve gives the mean everywhere",
    ]
