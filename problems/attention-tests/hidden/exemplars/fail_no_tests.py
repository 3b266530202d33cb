# fails: invalid submission: no test
"""Checks in a function whose name does not begin with test."""

import torch


def check_shapes(impl):
    output, _ = impl(torch.randn(5, 8), torch.randn(7, 8), torch.randn(7, 4))
    assert output.shape == (5, 4)
