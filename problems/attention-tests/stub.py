"""Tests of scaled dot-product attention: `impl` is an implementation of it."""

import torch


def test_shapes(impl):
    """The results have the contract's shapes."""
    query, key, value = torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 4)
    output, weights = impl(query, key, value)
    assert output.shape == (2, 3, 5, 4)
    assert weights.shape == (2, 3, 5, 7)
