"""Where a wrong tensor is wrong, in words."""

from __future__ import annotations

import pytest
import torch

from judge import profile
from judge.profile import shapes, where

X = torch.randn(2, 3, 5, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64) + 3


def pattern(observed, expected=X):
    """What hangs together."""
    wrong = (observed - expected).abs() > 1e-9
    return profile.pattern(observed, expected, wrong).removeprefix("; ")


def edited(*place):
    observed = X.clone()
    observed[place] += torch.rand(observed[place].shape, generator=torch.Generator().manual_seed(2)) + 1
    return observed


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ((0,), "only batch row 0"),
        ((slice(None), 2), "only head 2"),
        ((slice(None), slice(None), slice(1, None)), "only tokens 1 to 4"),
        ((slice(None), slice(None), slice(None, None, 2)), "only tokens 0, 2, 4"),
        ((..., 3), "only channel 3"),
        ((1, 2), "only head 2"),
        ((..., slice(None)), ""),
    ],
)
def test_places_of_an_axis(place, words):
    assert pattern(edited(*place)) == words


def test_axes_of_smaller_tensors_and_none_for_vectors():
    assert pattern(edited(0, 0, slice(None), 0)[0, 0], X[0, 0]) == "only column 0"
    assert pattern(edited(0)[0][:, :2], X[0][:, :2]) == ""
    assert pattern(edited(0, 0, 0, 0)[0, 0, 0], X[0, 0, 0]) == ""


def test_one_factor_or_one_amount_for_everything():
    assert pattern(X * 2**0.5) == "everything by the same factor 1.414"
    assert pattern(-X) == "everything has the opposite sign"
    assert pattern(X + 0.25) == "everything by the same amount, 0.25"
    assert pattern(2 * X + 1) == ""


def test_where_no_single_entry_is_far_off_nothing_hangs_together():
    assert profile.pattern(X + 1e-12 * torch.rand(2, 3, 5, 4), X, torch.zeros_like(X).bool()) == ""
    assert pattern(X * 1.0001) == ""


def test_integers_and_zeros_have_places_only():
    ones = torch.ones(2, 3, dtype=torch.int64)
    wrong = ones.clone()
    wrong[:, 1] = 7
    assert where(wrong, ones, wrong != ones) == "differs in 2 of 2 rows, first at [0, 1]: 7 instead of 1"
    assert profile.pattern(wrong, ones, wrong != ones) == "; only column 1"
    wrong[1] = 1
    assert profile.pattern(wrong, ones, wrong != ones) == ""
    assert pattern(torch.ones_like(X), torch.zeros_like(X)) == "everything by the same amount, 1"


@pytest.mark.parametrize(
    ("observed", "expected", "words"),
    [
        ((2, 5, 3), (2, 3, 5), "the same sizes in another order"),
        ((2, 1, 3), (2, 3), "it has extra dimensions of size 1"),
        ((2, 3), (1, 2, 3), "it lacks dimensions of size 1"),
        ((6, 4), (2, 3, 4), "the same number of entries, grouped differently"),
        ((2, 3), (2, 4), None),
    ],
)
def test_shapes(observed, expected, words):
    assert shapes(observed, expected) == words
