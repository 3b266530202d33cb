"""Tests of the softmax of a product."""

import torch


def test_shape(impl):
    assert impl(torch.ones(2, 3), torch.ones(3, 4)).shape == (2, 4)
