# fails: invalid: gives expanded results
"""Writes into a row of a result, which may share its memory with other rows."""

import torch


def test_a_row_by_itself(impl):
    query, key, value = (torch.randn(n, 8).double().expand(2, 3, n, 8) for n in (5, 7, 7))
    output, _ = impl(query, key, value)
    alone, _ = impl(query[0, 0], key[0, 0], value[0, 0])
    output[0] = 0
    assert torch.allclose(output[1, 0], alone)
