# fails: uncaught: values, masks, scale, stability, inputs unchanged
"""Looks at shapes and dtypes, and at no number."""

import pytest
import torch


@pytest.mark.parametrize("leading", [(), (2,), (1, 3), (2, 1, 3)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_shapes(impl, leading, dtype):
    query, key, value = (torch.randn(*leading, *size).to(dtype) for size in ((4, 8), (6, 8), (6, 5)))
    output, weights = impl(query, key, value, torch.rand(4, 6) < 0.5)
    assert output.shape == (*leading, 4, 5)
    assert weights.shape == (*leading, 4, 6)
    assert output.dtype == weights.dtype == dtype
