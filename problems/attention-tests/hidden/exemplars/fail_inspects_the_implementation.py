# fails: invalid: test_the_source
"""Reads the code instead of running it."""

import inspect


def test_the_source(impl):
    source = inspect.getsource(impl)
    assert "masked_fill" in source or "where" in source
    assert "sqrt" in source or "** -0.5" in source
