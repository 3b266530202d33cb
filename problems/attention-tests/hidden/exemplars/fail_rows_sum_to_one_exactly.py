# fails: invalid: rounds as coarsely as the statement allows
"""Allows the sum of a row's weights no error but its own."""

import torch


def test_rows_sum_to_one(impl):
    query, key, value = (torch.randn(2, 3, *size, dtype=torch.float64) for size in ((5, 8), (7, 8), (7, 4)))
    sums = impl(query, key, value)[1].sum(-1)
    torch.testing.assert_close(sums, torch.ones_like(sums), rtol=0, atol=1e-14)
