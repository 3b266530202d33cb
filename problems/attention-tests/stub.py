"""Tests of scaled dot-product attention: `impl` is an implementation of it, right or wrong."""

import torch


def test_shapes(impl):
    """gives an output and weights of the contract's shapes"""
    query, key, value = torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 4)
    output, weights = impl(query, key, value)
    assert output.shape == (2, 3, 5, 4)
    assert weights.shape == (2, 3, 5, 7)


def test_rows_add_up_to_one(impl):
    """gives weights that add up to one for each query"""
    query, key, value = torch.randn(5, 8), torch.randn(7, 8), torch.randn(7, 4)
    _, weights = impl(query, key, value)
    torch.testing.assert_close(weights.sum(-1), torch.ones(5), rtol=0, atol=1e-3)
