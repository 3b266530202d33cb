# fails: invalid: depends on the tests before it
"""The second test uses what the first one left behind."""

import torch

SEEN = {}


def test_values(impl):
    query, key, value = (torch.randn(n, 8).double() for n in (5, 7, 7))
    SEEN["weights"] = impl(query, key, value)[1]
    assert torch.allclose(SEEN["weights"], (query @ key.mT / 8**0.5).softmax(-1))


def test_rows_add_up_to_one(impl):
    assert torch.allclose(SEEN["weights"].sum(-1), torch.ones(5).double())
