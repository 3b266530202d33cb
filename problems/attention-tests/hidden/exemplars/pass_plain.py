"""A plain file that compares with the formula."""

import torch


def expected(query, key, value, mask, scale):
    scores = (query @ key.mT) * (query.shape[-1] ** -0.5 if scale is None else scale)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()
    return weights @ value, weights


def test_values(impl):
    query, key, value = (torch.randn(2, 3, n, 8, dtype=torch.float64) for n in (5, 7, 7))
    mask = torch.rand(5, 7) < 0.5
    mask[2] = False
    for got, wanted in zip(impl(query, key, value, mask), expected(query, key, value, mask, None), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-8, atol=1e-8)
