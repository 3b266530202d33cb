"""Python's parser, for one thread at a time.

CPython 3.11 counts the depth of the tree that it builds in one place for all threads, and raises a SystemError where
two of them, switched between by the garbage collector, have counted together.
"""

from __future__ import annotations

import ast
import threading
import warnings

_lock = threading.Lock()


def parse(text: str) -> ast.Module:
    """``ast.parse`` and what it raises, without its warnings: a student reads them where the code runs."""
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)
