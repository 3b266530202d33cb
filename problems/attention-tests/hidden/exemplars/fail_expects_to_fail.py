# fails: invalid submission: no test
"""Marks its test as one that fails, so that a mutant would be caught by passing."""

import pytest
import torch


@pytest.mark.xfail(strict=True)
def test_nothing_is_right(impl):
    query, key, value = (torch.randn(n, 8).double() for n in (5, 7, 7))
    assert not torch.allclose(impl(query, key, value)[1], (query @ key.mT / 8**0.5).softmax(-1))
