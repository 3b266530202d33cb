# fails: invalid: rounds as coarsely as the statement allows
"""Asks of float64 more than 1e-9."""

import pytest
import torch


@pytest.mark.parametrize("leading", [(), (2, 3)])
def test_float64(impl, leading):
    query, key, value = (torch.randn(*leading, *size, dtype=torch.float64) for size in ((5, 8), (7, 8), (7, 4)))
    weights = (query @ key.mT / 8**0.5).softmax(-1)
    assert impl(query, key, value)[0] == pytest.approx(weights @ value, rel=1e-12, abs=1e-12)
