# fails: invalid submission: no test
"""Skips all of its tests."""

import pytest
import torch

pytestmark = pytest.mark.skip("later")


def test_shapes(impl):
    output, _ = impl(torch.randn(5, 8), torch.randn(7, 8), torch.randn(7, 4))
    assert output.shape == (5, 4)
