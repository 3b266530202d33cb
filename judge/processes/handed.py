"""The arguments of a call as the implementation gets them, and what has become of them afterwards.

Each tensor is what it was for the caller: a leaf or the result of something, requiring a gradient or not. Tensors that
shared memory do again, so what is a view of an argument can be told, and what was written to can be written back.
"""

from __future__ import annotations

from typing import Any

import torch

from judge.processes.parcel import Parcel, Reference, flags, memory

IS, VIEWS, HOLDS = 0, 1, 2  # what a Reference begins with: a tensor itself, a view of it, a list or dict itself


class Arguments:
    """``tensors`` are those of the parcel as they are handed on; ``sources`` are what gradients are asked for."""

    def __init__(self, given: Parcel):
        self.tensors: list[torch.Tensor] = []
        self.sources: list[torch.Tensor | None] = []
        for tensor, (requires, leaf) in zip(given.tensors, given.flags, strict=True):
            handed, source = _handed(tensor, requires, leaf)
            self.tensors.append(handed)
            self.sources.append(source)
        self._given = given
        self._by_id = {id(tensor): number for number, tensor in enumerate(self.tensors)}
        handed_by_id = {id(tensor): self.tensors[number] for number, tensor in enumerate(given.tensors)}
        self.value = _replaced(given.value, handed_by_id)
        self._containers = {id(container): number for number, container in enumerate(given.containers)}
        self._contents = [_contents(container) for container in given.containers]
        self._forms = [_form(tensor) for tensor in self.tensors]
        self._owners: dict[tuple[int, torch.dtype], int] = {}
        for number, tensor in enumerate(self.tensors):
            self._owners.setdefault((_pointer(tensor), tensor.dtype), number)

    def reference(self, value: Any) -> Reference | None:
        """What the caller has of it already, if it has."""
        if not isinstance(value, torch.Tensor):
            return Reference((HOLDS, self._containers[id(value)])) if id(value) in self._containers else None
        if id(value) in self._by_id:
            return Reference((IS, self._by_id[id(value)]))
        if not _pointer(value):
            return None
        number = self._owners.get((_pointer(value), value.dtype))
        if value.requires_grad:
            number = self._by_id.get(id(value._base))
        if number is None:
            return None
        place = (value.storage_offset(), *value.shape, *value.stride())
        return Reference((VIEWS, number, int(value.requires_grad), *place))

    def changes(self) -> dict[str, Any]:
        """What is no longer as it came: bytes by storage, tensors by number, the contents of lists and dicts."""
        crossed = zip(self._given.storages, self._given.contents, strict=True)
        written = {
            number: now
            for number, (storage, content) in enumerate(crossed)
            if storage is not None and (now := memory(storage)) != content
        }
        forms = [
            [number, tensor.requires_grad, tensor.detach()]
            for number, (tensor, form) in enumerate(zip(self.tensors, self._forms, strict=True))
            if _form(tensor) != form
        ]
        contents = [
            [number, tuple(after)]
            for number, (container, before) in enumerate(zip(self._given.containers, self._contents, strict=True))
            if not _same(after := _contents(container), before)
        ]
        found = {"written": written, "forms": forms, "contents": contents}
        return {name: part for name, part in found.items() if part}


class _HandOver(torch.autograd.Function):
    """Makes a tensor the result of something: neither a leaf nor a view, in its own memory."""

    @staticmethod
    def forward(ctx: Any, anchor: torch.Tensor, held: list[torch.Tensor]) -> torch.Tensor:
        return held[0]

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return gradient, None


def _handed(tensor: torch.Tensor, requires: bool, leaf: bool) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The tensor with its flags, and what stands for it where a gradient is asked for."""
    if not requires:
        return tensor, None
    if leaf:
        tensor.requires_grad_()
        return tensor, tensor
    anchor = torch.zeros((), dtype=tensor.dtype).expand(tensor.shape).requires_grad_()
    with torch.enable_grad():
        handed: torch.Tensor = _HandOver.apply(anchor, [tensor])  # type: ignore[no-untyped-call]
    return handed, anchor


def _replaced(value: Any, handed: dict[int, torch.Tensor]) -> Any:
    """The value with the tensors that are handed on; lists and dicts stay the same objects."""
    if isinstance(value, torch.Tensor):
        return handed.get(id(value), value)
    if isinstance(value, tuple):
        parts = [_replaced(part, handed) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        value[:] = [_replaced(part, handed) for part in value]
    if isinstance(value, dict):
        for key in value:
            value[key] = _replaced(value[key], handed)
    return value


def _contents(container: Any) -> list[Any]:
    return [list(pair) for pair in container.items()] if isinstance(container, dict) else list(container)


def _same(now: list[Any], before: list[Any]) -> bool:
    if len(now) != len(before):
        return False
    pairs = zip(now, before, strict=True)
    return all(a is b or (type(a) is list and type(b) is list and _same_parts(a, b)) for a, b in pairs)


def _same_parts(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _form(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.shape, tensor.stride(), tensor.storage_offset(), _pointer(tensor), flags(tensor)


def _pointer(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
