"""The first part of a module that differs: known bugs, and code in which nothing can be watched."""

from __future__ import annotations

import pytest

from judge.catalog import find_problem
from judge.mutants import load_mutants
from judge.pipeline import submit

BLOCK = find_problem("pre-norm-block")
MUTANTS = {mutant.name: mutant for mutant in load_mutants(BLOCK.folder)}
FUNCTIONAL = """
    def forward(self, x, mask=None):
        y = x + self.attention(F.layer_norm(x, x.shape[-1:], self.norm1.weight, self.norm1.bias), mask)
        z = F.layer_norm(y, y.shape[-1:], self.norm2.weight, self.norm2.bias)
        hidden = F.gelu(F.linear(z, self.mlp.fc1.weight, self.mlp.fc1.bias))
        return z + F.linear(hidden, self.mlp.fc2.weight, self.mlp.fc2.bias)
"""


def inside(tmp_path, engine, source: str) -> str | None:
    file = tmp_path / "answer.py"
    file.write_text(source)
    report = submit(BLOCK, file, engine, seed=5)
    assert report.verdict == "wrong answer"
    (told,) = [case.inside for case in report.failed if case.name == report.failed[0].name]
    assert all(case.inside is None for case in report.cases if case.name != report.failed[0].name)
    return told


@pytest.mark.parametrize(
    ("mutant", "said"),
    [
        ("no_attention_residual", "attention still gives what it should, then norm2 gets something else: what is "
         "between them differs"),
        ("heads_interleaved", "attention.v_proj still gives what it should, then attention.o_proj gets something else: "
         "what is between them differs"),
        ("no_output_projection", "attention gets what it should and gives something else, as the first part that does"),
    ],
)  # fmt: skip
def test_the_first_part_that_differs_is_named(tmp_path, engine, mutant, said):
    assert inside(tmp_path, engine, MUTANTS[mutant].source) == said


def test_nothing_is_claimed_of_a_part_that_is_not_called_as_a_module(tmp_path, engine):
    reference = (BLOCK.folder / "hidden" / "reference.py").read_text()
    head, _, _ = reference.rpartition("    def forward(")
    said = inside(tmp_path, engine, head + FUNCTIONAL.lstrip("\n"))
    assert said == "every part gives what it should, attention last: what is done with it differs"


def test_of_code_without_parts_nothing_is_said(tmp_path, engine):
    reference = (BLOCK.folder / "hidden" / "reference.py").read_text()
    head, _, _ = reference.rpartition("    def forward(")
    assert inside(tmp_path, engine, head + "    def forward(self, x, mask=None):\n        return x * 1.0\n") is None
