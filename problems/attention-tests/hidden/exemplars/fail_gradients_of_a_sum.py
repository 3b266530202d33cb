# fails: uncaught: values
"""Sums everything before it asks for gradients: the weights always add up to one, so that their part cancels."""

import torch


def test_gradients(impl):
    query, key, value = (torch.randn(2, 3, n, 8).double().requires_grad_() for n in (5, 7, 7))
    output, weights = impl(query, key, value.detach())
    weights.sum().backward(retain_graph=True) if weights.requires_grad else None
    for leaf in (query, key):
        assert leaf.grad is None or leaf.grad.abs().max() < 1e-6
    assert torch.isfinite(output).all()


def test_values(impl):
    query, key, value = (torch.randn(2, 3, n, 8).double() for n in (5, 7, 7))
    weights = (query @ key.mT / 8**0.5).softmax(-1)
    assert torch.allclose(impl(query=query, key=key, value=value)[0], weights @ value, rtol=1e-7, atol=1e-7)
