# fails: uncaught: scale
"""Never gives a scale, and looks at values at width 1 only, where the default is 1."""

import torch


def test_one_feature(impl):
    for _ in range(5):
        query, key, value = (torch.randn(2, 3, n, 1).double() for n in (5, 7, 7))
        weights = (query * key.mT).softmax(-1)
        for got, wanted in zip(impl(query, key, value), (weights @ value, weights), strict=True):
            torch.testing.assert_close(got, wanted, rtol=1e-7, atol=1e-7)
