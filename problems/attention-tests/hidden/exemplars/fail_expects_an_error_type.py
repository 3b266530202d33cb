# fails: invalid: a subclass of ValueError of its own
"""Expects the error that PyTorch's product happens to raise where shapes don't fit."""

import pytest
import torch


def test_widths_that_differ(impl):
    with pytest.raises(RuntimeError):
        impl(torch.randn(5, 8), torch.randn(7, 9), torch.randn(7, 4))
