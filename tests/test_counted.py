"""Numbers with their nouns."""

from __future__ import annotations

from collections import Counter

from judge.counted import counted
from judge.report import grades, proof
from judge.verify import Proof


def test_one_has_no_plural():
    assert [counted(number, "case") for number in (0, 1, 2, 1200)] == ["0 cases", "1 case", "2 cases", "1,200 cases"]
    assert [counted(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]


def test_one_of_a_kind_is_not_told_in_the_plural():
    one = Proof("softmax", cases=["plain"], kills={"one_minus": ["plain"]}, rewrites=1, junk=1)
    assert "  1 case, 1 mutant, 1 rewrite, 1 piece of junk, " in proof.render(one)
    assert "1 problem proven" in proof.total([one])
    two = Proof("softmax", cases=["plain", "b"], kills={"a": [], "b": []}, rewrites=2)
    places = [proof.line(each).index("  0.0 s") for each in (one, two)]
    assert places[0] == places[1]
    assert "\n1 submission in " in grades.total(Counter(accepted=1), 1.0)
