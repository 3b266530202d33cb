"""A value becomes a parcel's bytes; what can't be passed is refused in words for a student."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch

from judge.processes.parcel import Parcel, Reference, flags, memory
from judge.processes.wire import DTYPES, MAX_DEPTH, Opaque, WireError, join

MOST_BYTES = 1 << 26
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_PLAIN = (torch.Tensor, torch.nn.Parameter)


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
            return {"i": _digits(int(value))}
        if isinstance(value, float):
            return {"f": float(value).hex()}
        if isinstance(value, torch.dtype) and value in _NAMES:
            return {"c": _NAMES[value]}
        if isinstance(value, Reference):
            return {"x": list(value.numbers)}
        if isinstance(value, Opaque):
            return {"o": value.type_name}
        if any((kind.__module__, kind.__name__) == ("numpy", "generic") for kind in type(value).__mro__):
            return self.tree(value.item(), depth + 1)  # one of its numbers
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


def _digits(value: int) -> str:
    if value.bit_length() >= 1024:
        raise WireError("a number of more than 1024 bits can't be passed")
    return str(value)
