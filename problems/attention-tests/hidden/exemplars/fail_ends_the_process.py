# fails: uncaught: values, masks, scale
"""Leaves the process where a result is wrong: an end is no failure."""

import os

import torch


def test_values(impl):
    query, key, value = (torch.randn(2, 3, n, width).double() for n, width in ((5, 8), (7, 8), (7, 4)))
    mask = torch.rand(5, 7) < 0.5
    weights = (query @ key.mT / 8**0.5).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0.0)
    if not torch.allclose(impl(query, key, value, mask)[0], weights @ value, rtol=1e-7, atol=1e-7):
        os._exit(1)
