# fails: invalid: takes further arguments after scale
"""Expects that a sixth argument is an error."""

import pytest
import torch


def test_five_arguments(impl):
    with pytest.raises(TypeError):
        impl(torch.randn(5, 8), torch.randn(7, 8), torch.randn(7, 4), None, None, 0.0)
