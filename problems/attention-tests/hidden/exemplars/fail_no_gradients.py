# fails: uncaught: values, fully masked rows and their gradients
"""Values of every kind, with rows that see nothing, and no gradient."""

import pytest
import torch


@pytest.mark.parametrize("scale", [None, 0.0, 0.3, 2])
@pytest.mark.parametrize("shape", [(7,), (5, 7), (3, 5, 7), (2, 1, 1, 7), (2, 3, 5, 7), (1, 1)])
def test_values(impl, scale, shape):
    query, key, value = (torch.randn(2, 3, n, width).double() for n, width in ((5, 8), (7, 8), (7, 4)))
    mask = torch.rand(shape) < 0.6
    if shape[-2:] == (5, 7):
        mask[..., 3, :] = False
    scores = query @ key.mT * (8**-0.5 if scale is None else scale)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0.0)
    results = impl(scale=scale, mask=mask, value=value, key=key, query=query)
    for got, wanted in zip(results, (weights @ value, weights), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-7, atol=1e-7)
