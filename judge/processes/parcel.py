"""Arguments, results and gradients of one call as bytes, so that they arrive as what they were.

Unlike `wire`, which rebuilds tensors plain, a parcel keeps strides, memory that tensors share, flags, the identity of
tensors, lists and dicts, and the field names of tuples. `packing` makes one, `unpacking` opens it and trusts nothing.

A parcel is a u32 length, a JSON header {"tree", "tensors", "storages"} and the storages' bytes. A tensor of the table
is [dtype, shape, stride, offset, storage, requires_grad, is_leaf]. The tree is wire's, with {"t": 3} tensor 3 of the
table, {"n": [type name, field names, parts]} a tuple with names, {"m": pairs} an OrderedDict, {"k": 2} the list or dict
with this number again, and {"x": [3, ...]} what only the receiver can make, see `Reference`.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Reference:
    """Something that the receiver has: a tensor of the call's arguments, or a view of one. All whole numbers."""

    numbers: tuple[int, ...]


@dataclass(slots=True)
class Parcel:
    """What was packed or unpacked: the value, and the tensors, storages, lists and dicts in it, by their number."""

    value: Any = None
    tensors: list[torch.Tensor] = field(default_factory=list)
    flags: list[tuple[bool, bool]] = field(default_factory=list)  # requires_grad, is_leaf
    storages: list[Any] = field(default_factory=list)
    contents: list[bytes] = field(default_factory=list)  # of the storages, as they crossed
    containers: list[Any] = field(default_factory=list)


def memory(storage: Any) -> bytes:
    """A storage's bytes."""
    size = storage.nbytes()
    return ctypes.string_at(storage.data_ptr(), size) if size else b""


def flags(tensor: torch.Tensor) -> tuple[bool, bool]:
    """Whether a tensor requires a gradient, and whether it is a leaf."""
    return tensor.requires_grad, tensor.is_leaf
