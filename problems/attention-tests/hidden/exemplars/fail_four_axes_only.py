# fails: uncaught: shapes
"""Every call has a batch and heads, and no size is 1."""

import torch


def test_heads(impl):
    query, key, value = (torch.randn(2, 3, n, width).double() for n, width in ((5, 8), (7, 8), (7, 4)))
    for mask in (None, torch.rand(2, 1, 5, 7) < 0.5, torch.rand(3, 5, 7) < 0.5):
        visible = torch.ones(1).bool() if mask is None else mask
        weights = (query @ key.mT / 8**0.5).masked_fill(~visible, -torch.inf).softmax(-1).nan_to_num(0.0)
        for got, wanted in zip(impl(query, key, value, mask), (weights @ value, weights), strict=True):
            torch.testing.assert_close(got, wanted, rtol=1e-7, atol=1e-7)
