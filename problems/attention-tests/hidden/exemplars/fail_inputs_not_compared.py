# fails: uncaught: inputs unchanged
"""Computes what it expects from the arguments after the call, so that changed arguments look right."""

import torch


def test_values(impl):
    query, key, value = (torch.randn(2, n, 8).double() for n in (5, 7, 7))
    mask = torch.rand(5, 7) < 0.5
    output, weights = impl(query, key, value, mask)
    assert output.shape == (2, 5, 8)
    assert torch.allclose(weights.sum(-1), (weights.sum(-1) > 0.5).double())
    assert torch.allclose(output, weights @ value)
