# fails: time limit
"""Waits until a result is right, which a wrong one never is."""

import torch


def test_values(impl):
    query, key, value = (torch.randn(2, 3, n, width).double() for n, width in ((5, 8), (7, 8), (7, 4)))
    weights = (query @ key.mT / 8**0.5).softmax(-1)
    while not torch.allclose(impl(query, key, value)[0], weights @ value, rtol=1e-7, atol=1e-7):
        pass
