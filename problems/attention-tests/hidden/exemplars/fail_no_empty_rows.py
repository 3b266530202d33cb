# fails: uncaught: fully masked rows and their gradients
"""Masks of all shapes, and each of them leaves every query something to see."""

import pytest
import torch


@pytest.mark.parametrize("shape", [(7,), (5, 7), (3, 5, 7), (2, 1, 1, 7), (2, 3, 5, 7)])
def test_masks(impl, shape):
    query, key, value = (torch.randn(2, 3, n, 8).double() for n in (5, 7, 7))
    mask = torch.rand(shape) < 0.5
    mask[..., 2] = True
    weights = (query @ key.mT / 8**0.5).masked_fill(~mask, -torch.inf).softmax(-1)
    for got, wanted in zip(impl(query, key, value, mask), (weights @ value, weights), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-7, atol=1e-7)


def test_a_causal_mask(impl):
    x = torch.randn(2, 6, 4).double()
    mask = torch.ones(6, 6).tril().bool()
    weights = (x @ x.mT / 2).masked_fill(~mask, -torch.inf).softmax(-1)
    assert torch.allclose(impl(x, x, x, mask)[0], weights @ x, rtol=1e-7, atol=1e-7)
