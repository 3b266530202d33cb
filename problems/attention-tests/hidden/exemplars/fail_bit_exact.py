# fails: invalid: test_values
"""Compares bit by bit with one way to compute it."""

import torch


def test_values(impl):
    query, key, value = (torch.randn(2, 3, n, 8, dtype=torch.float64) for n in (5, 7, 7))
    output, weights = impl(query, key, value)
    expected = (query @ key.mT / 8**0.5).softmax(-1)
    assert torch.equal(weights, expected)
    assert torch.equal(output, expected @ value)
