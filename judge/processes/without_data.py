"""What boot.py leaves out of torch's import, for the few files that may need it.

Kernels for tensors on the meta device, of a shape and no values, are registered by an import of _meta_registrations.
Who makes such a tensor asks that module for nothing, nor do its operators of torch.ops. So a file is searched for the
words that announce it; one that imports these modules gets them without. There are words, too, for what would bring
them in by itself, in the midst of a call or of a walk through all modules.
"""

from __future__ import annotations

import unicodedata

import torch

_WORDS = (
    "meta", "fake", "compile", "export", "fx", "dynamo", "inductor", "functorch", "skip_init", "nested", "stateless",
    "trace", "decomp", "_refs", "prims", "_custom_op", "vmap",
    "broadcast_shapes", "sys.modules",
)  # fmt: skip


def import_for(source: str) -> None:
    """Import what was left out if the file has such a word."""
    text = unicodedata.normalize("NFKC", source).lower()  # as Python reads names
    if any(word in text for word in _WORDS):
        bring_in()


def bring_in() -> None:
    """Import what was left out, if something was."""
    _ = getattr(getattr(torch, "_meta_registrations", None), "activate_meta", None)  # a stand-in is asked for something
