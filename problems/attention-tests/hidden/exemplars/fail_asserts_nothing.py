# fails: uncaught: values, masks, fully masked rows and their gradients, scale, stability, dtype, inputs unchanged
"""Calls the function in many ways and looks at nothing that comes of it."""

import torch


def test_it_runs(impl):
    for dtype in (torch.float64, torch.bfloat16):
        query, key, value = (torch.randn(2, 3, n, 4, dtype=dtype, requires_grad=True) for n in (5, 6, 6))
        for scale in (None, 0.0, 2):
            output, weights = impl(query, key, value, scale=scale)
            (output.sum() + weights.sum()).backward()


def test_compares_but_does_not_assert(impl):
    query, key, value = torch.randn(5, 4), torch.randn(6, 4), torch.randn(6, 3)
    output, weights = impl(query, key, value)
    torch.allclose(output, weights @ value)
