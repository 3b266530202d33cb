# fails: invalid: gives the value itself
"""Writes into a result and expects that no argument is touched by that."""

import torch


def test_the_output_is_a_new_tensor(impl):
    value = torch.randn(1, 4)
    copy = value.clone()
    output, _ = impl(torch.randn(1, 8), torch.randn(1, 8), value)
    output.zero_()
    assert torch.equal(value, copy)
