"""What boot.py leaves out of torch's import, for the few files that may need it.

Kernels for tensors on the meta device, of a shape and no values, are registered by an import of _meta_registrations.
Nobody asks that module for anything, so a file is searched for the words without which it makes no such tensor.
"""

from __future__ import annotations

import unicodedata
from typing import Any

import torch

_WORDS = (
    "meta", "fake", "compile", "export", "fx", "dynamo", "inductor", "functorch", "skip_init", "nested", "stateless",
    "trace", "decomp",
)  # fmt: skip


def import_for(source: str) -> None:
    """Import what was left out if the file has such a word."""
    text = unicodedata.normalize("NFKC", source).lower()  # as Python reads names
    if any(word in text for word in _WORDS):
        for name in ("_meta_registrations", "export"):
            module: Any = vars(torch).get(name)
            if hasattr(type(module), "take_place"):  # a stand-in
                module.take_place()
