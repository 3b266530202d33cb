# fails: invalid: rounds as coarsely as the statement allows
"""Asks of float32 what suits a single operation in it, and attention is a chain of them."""

import torch


def test_float32(impl):
    query, key, value = torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 4)
    weights = (query.double() @ key.double().mT / 8**0.5).softmax(-1)
    output = weights @ value.double()
    for got, wanted in zip(impl(query, key, value), (output, weights), strict=True):
        assert torch.allclose(got.double(), wanted, rtol=1e-5, atol=1e-6)
