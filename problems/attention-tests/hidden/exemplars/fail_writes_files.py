# fails: invalid: test_saved
"""Saves a result to look at it later; nothing can be written."""

import torch


def test_saved(impl):
    output, _ = impl(torch.randn(5, 8), torch.randn(7, 8), torch.randn(7, 4))
    torch.save(output, "output.pt")
    assert torch.equal(torch.load("output.pt"), output)
