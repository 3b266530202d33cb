"""Rounding in float32 is told apart from a formula that is slightly off, by all calls together."""

from judge.compare import Comparison, Difference
from judge.precision import forgive_rounding


def off(*errors, facet="value"):
    """Comparisons with these errors; a difference where they are above the tolerance."""
    return [
        Comparison([Difference(facet, "output", "is off", error)] if error > 1e-5 else [], [], worst=error)
        for error in errors
    ]


def differing(comparisons):
    forgive_rounding(comparisons)
    return [bool(comparison.differences) for comparison in comparisons]


def test_few_calls_or_half_of_them_are_no_evidence():
    assert differing(off(2e-5)) == [True]
    assert differing(off(2e-5, 3e-5, 4e-5)) == [True] * 3
    assert differing(off(2e-5, 3e-5, 0.0, 1e-15)) == [True, True, False, False]


def test_whoever_rounds_everywhere_is_forgiven_where_rounding_is_multiplied():
    comparisons = off(1e-7, 3e-7, 2e-5, 9e-5, 0.0)
    assert differing(comparisons) == [False] * 5
    assert comparisons[2].remarks == ["computes in lower precision than its inputs (relative error 2e-05)"]
    assert comparisons[0].remarks == []


def test_a_call_that_is_slightly_off_among_exact_ones_is_a_difference():
    assert differing(off(1e-15, 1e-14, 2e-5)) == [False, False, True]


def test_what_is_more_than_rounding_stays_a_difference():
    assert differing(off(1e-7, 3e-7, 2e-4, 0.3)) == [False, False, True, True]


def test_other_facets_stay_differences_however_small():
    assert differing(off(1e-7, 3e-7, 4e-7, 2e-5, facet="repeatable")) == [False, False, False, True]


def test_beside_what_is_small_a_difference_of_another_kind_stays():
    comparisons = off(1e-7, 2e-5, 1e-7, 1e-7)
    comparisons[1].differences.append(Difference("dtype", "output", "has dtype float32"))
    forgive_rounding(comparisons)
    assert [difference.facet for difference in comparisons[1].differences] == ["dtype"]
