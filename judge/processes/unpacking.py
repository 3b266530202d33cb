"""A parcel's bytes become a value again, whoever wrote them: hostile ones give a WireError or plain values.

Sizes, shapes, strides, dtypes, depth and numbers of parts are checked before anything is made of them, and nothing
takes more memory than the bytes account for.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch

from judge.processes.parcel import Parcel, Reference
from judge.processes.wire import DTYPES, MAX_DEPTH, MAX_DIGITS, MAX_NODES, MAX_RANK, Opaque, WireError, split

_MOST_TENSORS = 10_000
_MOST_ELEMENTS = 1 << 26
_MOST_FIELDS = 100
_MOST_JSON_PARTS = 16 * MAX_NODES
_ITEM_SIZES = {name: torch.empty((), dtype=dtype).element_size() for name, dtype in DTYPES.items()}


def unpack(data: bytes, refer: Callable[[Reference], Any] | None = None) -> Parcel:
    """The values of hostile bytes, or WireError; ``refer`` makes what a Reference stands for."""
    try:
        return _Unpacking(data, refer).parcel
    except WireError:
        raise
    except Exception as exc:  # hostile bytes may fail anywhere in the decoding; all of it means the same
        raise WireError(f"what came can't be read ({type(exc).__name__})") from exc


class _Unpacking:
    def __init__(self, data: bytes, refer: Callable[[Reference], Any] | None):
        header, position = split(data, most_parts=_MOST_JSON_PARTS)
        self.parcel = Parcel()
        self._refer = refer
        self._budget = MAX_NODES
        for size in header["storages"]:
            if type(size) is not int or not 0 <= size <= len(data) - position:
                raise WireError("a storage of impossible length")
            self.parcel.contents.append(data[position : position + size])
            self.parcel.storages.append(_storage(self.parcel.contents[-1]))
            position += size
        if position != len(data):
            raise WireError("bytes are left over")
        if len(header["tensors"]) > _MOST_TENSORS:
            raise WireError("too many tensors")
        for entry in header["tensors"]:
            self._add_tensor(*entry)
        self.parcel.value = self._value(header["tree"], 0)

    def _add_tensor(
        self, name: str, shape: list[int], stride: list[int], offset: int, number: int, requires: bool, leaf: bool
    ) -> None:
        if type(name) is not str or name not in DTYPES or type(requires) is not bool or type(leaf) is not bool:
            raise WireError("a tensor of unknown form")
        if type(shape) is not list or type(stride) is not list or len(shape) != len(stride) or len(shape) > MAX_RANK:
            raise WireError("a tensor of unknown form")
        if any(type(one) is not int or not 0 <= one <= 1 << 40 for one in (*shape, *stride, offset, number)):
            raise WireError("a tensor of impossible shape")
        elements, last = 1, offset
        for length, step in zip(shape, stride, strict=True):
            elements *= length
            last += (length - 1) * step
        size = _ITEM_SIZES[name]
        if elements > _MOST_ELEMENTS or elements and (last + 1) * size > len(self.parcel.contents[number]):
            raise WireError("a tensor of impossible length")
        dtype = DTYPES[name]
        if requires and not (dtype.is_floating_point or dtype.is_complex):
            raise WireError("a tensor of this dtype requires no gradient")
        if name == "bool" and max(self.parcel.contents[number], default=0) > 1:
            raise WireError("a boolean that is neither true nor false")
        if elements:
            tensor = torch.empty(0, dtype=dtype).set_(self.parcel.storages[number], offset, shape, stride)
        else:
            tensor = torch.empty_strided(shape, stride, dtype=dtype)
        self.parcel.tensors.append(tensor)
        self.parcel.flags.append((requires, leaf))

    def _value(self, node: Any, depth: int) -> Any:
        self._budget -= 1
        if depth > MAX_DEPTH + 2 or self._budget < 0:
            raise WireError("a value that is nested too deeply or has too many parts")
        if node is None or type(node) in (bool, str):
            return node
        if type(node) is not dict or len(node) != 1:
            raise WireError("a part of unknown form")
        ((kind, content),) = node.items()
        if kind in ("t", "b", "k"):
            if type(content) is not int or content < 0:
                raise WireError("a part of unknown form")
            if kind == "t":
                return self.parcel.tensors[content]
            return (self.parcel.contents if kind == "b" else self.parcel.containers)[content]
        if kind == "i" and type(content) is str and len(content) <= MAX_DIGITS:
            return int(content)
        if kind == "f" and type(content) is str:
            return float.fromhex(content)
        if kind == "c":
            return DTYPES[content]
        if kind == "o" and type(content) is str:
            return Opaque(content[:80])
        if kind == "x" and self._refer is not None and all(type(number) is int for number in content):
            return self._refer(Reference(tuple(content)))
        return self._container(kind, content, depth)

    def _container(self, kind: str, content: Any, depth: int) -> Any:
        if kind == "u":
            return tuple(self._value(part, depth + 1) for part in content)
        if kind == "n":
            name, names, parts = content
            return named(str(name), tuple(map(str, names)))(*(self._value(part, depth + 1) for part in parts))
        if kind == "l":
            items: list[Any] = []
            self.parcel.containers.append(items)
            items += [self._value(part, depth + 1) for part in content]
            return items
        if kind in ("d", "m"):
            table: dict[Any, Any] = OrderedDict() if kind == "m" else {}
            self.parcel.containers.append(table)
            for key, part in content:
                table[self._value(key, depth + 1)] = self._value(part, depth + 1)
            return table
        raise WireError("a part of unknown form")


@lru_cache(maxsize=256)
def named(name: str, fields: tuple[str, ...]) -> Any:
    """A tuple type with these field names."""
    if len(fields) > _MOST_FIELDS:
        raise WireError("a tuple of too many fields")
    return namedtuple(name, fields)  # noqa: PYI024 - its names come with the values


def _storage(content: bytes) -> Any:
    if not content:
        return torch.empty(0, dtype=torch.uint8).untyped_storage()
    return torch.frombuffer(bytearray(content), dtype=torch.uint8).untyped_storage()
