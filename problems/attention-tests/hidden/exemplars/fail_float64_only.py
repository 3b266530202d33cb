# fails: uncaught: dtype
"""Everything in the dtype in which everything is easy."""

import torch

torch.set_default_dtype(torch.float64)


def test_values(impl):
    query, key, value = torch.randn(2, 5, 8), torch.randn(2, 7, 8), torch.randn(2, 7, 4)
    for mask in (None, torch.rand(5, 7) < 0.5):
        visible = torch.tensor(True) if mask is None else mask
        weights = (query @ key.mT / 8**0.5).masked_fill(~visible, -torch.inf).softmax(-1).nan_to_num(0.0)
        for got, wanted in zip(impl(query, key, value, mask), (weights @ value, weights), strict=True):
            torch.testing.assert_close(got, wanted, rtol=1e-7, atol=1e-7)
