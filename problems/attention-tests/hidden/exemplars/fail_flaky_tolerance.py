# fails: invalid: test_mean_weight
"""Random inputs and a bound that holds for one draw out of two."""

import torch


def test_mean_weight(impl):
    _, weights = impl(torch.randn(1, 4), torch.randn(2, 4), torch.randn(2, 4))
    assert weights[0, 0] < 0.5
