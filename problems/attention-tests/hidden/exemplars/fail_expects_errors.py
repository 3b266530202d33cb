# fails: invalid: accepts masks of numbers
"""Asks for errors that the contract does not promise."""

import pytest
import torch


def test_a_mask_of_numbers_is_refused(impl):
    with pytest.raises((RuntimeError, TypeError, ValueError)):
        impl(torch.randn(5, 8), torch.randn(7, 8), torch.randn(7, 4), torch.ones(5, 7))
