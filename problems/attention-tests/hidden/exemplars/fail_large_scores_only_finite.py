# fails: uncaught: stability
"""Large scores, of one sign, and the results are only asked to be finite."""

import torch


def test_large_scores(impl):
    query, key, value = (torch.rand(5, 8).double() + 1 for _ in range(3))
    output, weights = impl(100 * query, 10 * key, value)
    assert torch.isfinite(output).all()
    assert torch.allclose(weights.sum(-1), torch.ones(5).double())
