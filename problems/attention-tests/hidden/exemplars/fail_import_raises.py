# fails: runtime error
"""Calls a method at import that tensors do not have."""

import torch

WIDTHS = torch.tensor([1, 4, 8]).to_list()


def test_widths(impl):
    for width in WIDTHS:
        assert impl(torch.randn(5, width), torch.randn(7, width), torch.randn(7, 4))[0].shape == (5, 4)
