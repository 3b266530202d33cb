# fails: invalid: test_bfloat16
"""Asks one part in a thousand of bfloat16, which has eight bits."""

import torch


def test_bfloat16(impl):
    query, key, value = (torch.randn(2, 3, n, 8).bfloat16() for n in (5, 7, 7))
    output, weights = impl(query, key, value)
    expected = (query.double() @ key.double().mT / 8**0.5).softmax(-1)
    torch.testing.assert_close(weights.double(), expected, rtol=0, atol=1e-3)
    torch.testing.assert_close(output.double(), expected @ value.double(), rtol=0, atol=1e-3)
