# fails: invalid: test_it_uses_an_exact_gelu
"""Looks for a word in the source of the implementation."""

import inspect


def test_it_uses_an_exact_gelu(impl):
    assert "tanh" not in inspect.getsource(impl.pre_norm_transformer_block_forward)
    assert "gelu" in inspect.getsource(impl.pre_norm_transformer_block_forward)
