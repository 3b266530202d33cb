# fails: invalid: test_second_derivatives
"""Asks for derivatives of derivatives, which are neither promised nor passed on."""

import torch


def test_second_derivatives(impl):
    inputs = [torch.randn(*size).double().requires_grad_() for size in ((2, 3), (4, 3), (4, 2))]
    assert torch.autograd.gradgradcheck(lambda *parts: tuple(impl(*parts)), inputs)
