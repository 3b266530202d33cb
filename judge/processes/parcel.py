"""Arguments, results and gradients of one call as bytes, so that they arrive as what they were.

Unlike `wire`, which rebuilds tensors plain, a parcel keeps strides, memory that tensors share, flags, the identity of
tensors, lists and dicts, and the field names of tuples. Decoding trusts nothing: `unpack` gives the values of hostile
bytes or a WireError, and never takes more memory than they account for.

A parcel is a u32 length, a JSON header {"tree", "tensors", "storages"} and the storages' bytes. A tensor of the table
is [dtype, shape, stride, offset, storage, requires_grad, is_leaf]. The tree is wire's, with {"t": 3} tensor 3 of the
table, {"n": [type name, field names, parts]} a tuple with names, {"m": pairs} an OrderedDict, {"k": 2} the list or dict
with this number again, and {"x": [3, ...]} what only the receiver can make, see `Reference`.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch

from judge.processes.wire import DTYPES, MAX_DEPTH, MAX_DIGITS, MAX_NODES, MAX_RANK, Opaque, WireError, join, split

MOST_BYTES = 1 << 26
_MOST_TENSORS = 10_000
_MOST_ELEMENTS = 1 << 26
_MOST_FIELDS = 100
_MOST_JSON_PARTS = 16 * MAX_NODES
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_ITEM_SIZES = {name: torch.empty((), dtype=dtype).element_size() for name, dtype in DTYPES.items()}
_PLAIN = (torch.Tensor, torch.nn.Parameter)


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


def pack(value: Any, substitute: Callable[[Any], Any] = lambda value: None) -> tuple[bytes, Parcel]:
    """The bytes, and what they hold. ``substitute`` gives a Reference for a tensor, list or dict that the receiver has.

    Raises WireError, in words for a student, for what can't be passed.
    """
    packing = _Packing(substitute)
    tree = packing.tree(value, 0)
    parcel = packing.parcel
    parcel.value = value
    header = {"tree": tree, "tensors": packing.table, "storages": [len(part) for part in parcel.contents]}
    return join(header, parcel.contents), parcel


def unpack(data: bytes, refer: Callable[[Reference], Any] | None = None) -> Parcel:
    """The values of hostile bytes, or WireError; ``refer`` makes what a Reference stands for."""
    try:
        return _Unpacking(data, refer).parcel
    except WireError:
        raise
    except Exception as exc:  # hostile bytes may fail anywhere in the decoding; all of it means the same
        raise WireError(f"what came can't be read ({type(exc).__name__})") from exc


def memory(storage: Any) -> bytes:
    """A storage's bytes."""
    size = storage.nbytes()
    return ctypes.string_at(storage.data_ptr(), size) if size else b""


def flags(tensor: torch.Tensor) -> tuple[bool, bool]:
    """Whether a tensor requires a gradient, and whether it is a leaf."""
    return tensor.requires_grad, tensor.is_leaf


class _Packing:
    def __init__(self, substitute: Callable[[Any], Any]):
        self.parcel = Parcel()
        self.table: list[list[Any]] = []
        self._substitute = substitute
        self._tensors: dict[int, int] = {}
        self._storages: dict[int, int] = {}
        self._containers: dict[int, int] = {}
        self._total = 0
        self._keep: list[Any] = []  # so that no id is given twice

    def tree(self, value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise WireError("a value that is nested too deeply can't be passed")
        if value is None or type(value) in (bool, str):
            return value
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, bytes):
            self._grow(len(value))
            self.parcel.contents.append(value)
            self.parcel.storages.append(None)
            return {"b": len(self.parcel.contents) - 1}
        if isinstance(value, int):
            return {"i": _digits(value)}
        if isinstance(value, float):
            return {"f": float(value).hex()}
        if isinstance(value, torch.dtype) and value in _NAMES:
            return {"c": _NAMES[value]}
        if isinstance(value, Reference):
            return {"x": list(value.numbers)}
        if isinstance(value, Opaque):
            return {"o": value.type_name}
        return self._container(value, depth)

    def _container(self, value: Any, depth: int) -> Any:
        if isinstance(value, tuple):
            parts = [self.tree(part, depth + 1) for part in value]
            names = getattr(type(value), "_fields", None)
            return {"n": [type(value).__name__, list(names), parts]} if names else {"u": parts}
        if not isinstance(value, (list, dict)):
            raise WireError(f"a value of type {type(value).__name__} can't be passed; give tensors, numbers and texts")
        reference = self._substitute(value)
        if reference is not None:
            return self.tree(reference, 0)
        if id(value) in self._containers:
            return {"k": self._containers[id(value)]}
        self._containers[id(value)] = len(self.parcel.containers)
        self.parcel.containers.append(value)
        if isinstance(value, list):
            return {"l": [self.tree(part, depth + 1) for part in value]}
        pairs = [[self.tree(key, depth + 1), self.tree(part, depth + 1)] for key, part in value.items()]
        return {"m" if isinstance(value, OrderedDict) else "d": pairs}

    def _tensor(self, value: torch.Tensor) -> Any:
        reference = self._substitute(value)
        if reference is not None:
            return self.tree(reference, 0)
        if id(value) not in self._tensors:
            place = self._place(value)  # may refuse
            self._tensors[id(value)] = len(self.table)
            self.parcel.tensors.append(value)
            self.parcel.flags.append(flags(value))
            self.table.append(place)
        return {"t": self._tensors[id(value)]}

    def _place(self, value: torch.Tensor) -> list[Any]:
        if type(value) not in _PLAIN or value.layout is not torch.strided or value.device.type != "cpu":
            raise WireError(f"a tensor of type {type(value).__name__} on {value.device} can't be passed")
        if value.dtype not in _NAMES:
            raise WireError(f"a tensor of dtype {value.dtype} can't be passed")
        plain = value.detach()
        if plain.is_conj() or plain.is_neg():
            plain = plain.resolve_conj().resolve_neg()
            self._keep.append(plain)
        storage = plain.untyped_storage()
        pointer = storage.data_ptr() or id(value)
        if pointer not in self._storages:
            self._grow(storage.nbytes())
            self._storages[pointer] = len(self.parcel.contents)
            self.parcel.contents.append(memory(storage))
            self.parcel.storages.append(storage)
        shape, stride = list(plain.shape), list(plain.stride())
        return [_NAMES[value.dtype], shape, stride, plain.storage_offset(), self._storages[pointer], *flags(value)]

    def _grow(self, size: int) -> None:
        self._total += size
        if self._total > MOST_BYTES:
            raise WireError(f"more than {MOST_BYTES >> 20} MiB can't be passed at once")


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


def _digits(value: int) -> str:
    if int(value).bit_length() >= 1024:
        raise WireError("a number of more than 1024 bits can't be passed")
    return str(int(value))


def _storage(content: bytes) -> Any:
    if not content:
        return torch.empty(0, dtype=torch.uint8).untyped_storage()
    return torch.frombuffer(bytearray(content), dtype=torch.uint8).untyped_storage()
