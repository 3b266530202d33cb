"""The student's side of an implementation that runs in another process: a call looks like a call.

Values, flags, shared memory, exceptions and first-order gradients come back, and what the call has done to its
arguments is done to them here. There is no implementation in this process, whatever looks for one.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from judge.processes.handed import HOLDS, IS
from judge.processes.packing import pack
from judge.processes.parcel import Parcel, Reference
from judge.processes.raised import rebuild
from judge.processes.unpacking import unpack
from judge.processes.wire import WireError

Exchange = Callable[[dict[str, Any], bytes], bytes]


class Remote:
    """Calls one implementation; ``exchange`` sends a frame and gives the body of the answer."""

    def __init__(self, exchange: Exchange):
        self._exchange = exchange
        self._lock = threading.RLock()
        self._numbers = itertools.count()
        self._forgotten: list[int] = []

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call, or what it raises."""
        with self._lock:
            try:
                body, given = pack((args, kwargs))
            except WireError as exc:
                raise TypeError(f"{name}: {exc}") from None
            number = next(self._numbers)
            forgotten, self._forgotten = self._forgotten, []
            header = {"type": "call", "call": number, "name": name, "forget": forgotten}
            header |= {"grad": torch.is_grad_enabled(), "dtype": str(torch.get_default_dtype()).removeprefix("torch.")}
            came = unpack(self._exchange(header, body), lambda reference: _resolve(reference, given))
            answer = came.value
            _write_back(answer, given)
        outputs = [tensor for tensor, (requires, _) in zip(came.tensors, came.flags, strict=True) if requires]
        if outputs:
            answer = _replaced(answer, self._with_gradients(number, given, outputs))
        _fill(answer, given)
        if "error" in answer:
            raise rebuild(answer["error"])
        return answer["result"]

    def gradients(self, number: int, wanted: Sequence[int], gradients: Sequence[Any]) -> dict[int, Any]:
        """The gradients of the tensors with these numbers, for gradients of the differentiable results."""
        with self._lock:
            body, _ = pack(list(gradients))
            header = {"type": "backward", "call": number, "wanted": list(wanted)}
            answer = unpack(self._exchange(header, body)).value
        if "error" in answer:
            raise rebuild(answer["error"])
        found: dict[int, Any] = answer["gradients"]
        return found

    def forget(self, number: int) -> None:
        """Let the other side drop what it keeps for the gradients of a call."""
        self._forgotten.append(number)

    def _with_gradients(self, number: int, given: Parcel, outputs: list[torch.Tensor]) -> dict[int, torch.Tensor]:
        sources = [k for k, (requires, _) in enumerate(given.flags) if requires]
        inputs = [given.tensors[k] for k in sources]
        graph = _Graph(self, number, sources)
        attached = _Call.apply(graph, list(outputs), torch.empty(0), *inputs)  # type: ignore[no-untyped-call]
        return {id(plain): tensor for plain, tensor in zip(outputs, attached, strict=True)}


def offered(remote: Remote, names: Sequence[str], *, alone: bool) -> Any:
    """What the fixture gives: the one function, or an object that has the functions."""
    functions = {name: _function(remote, name) for name in names}
    return functions[names[0]] if alone else SimpleNamespace(**functions)


def _function(remote: Remote, name: str) -> Callable[..., Any]:
    def implementation(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return remote.call(name, args, kwargs)

    implementation.__name__ = implementation.__qualname__ = name
    return implementation


class _Graph:
    """What the other side keeps of a call, for as long as somebody here may ask for gradients."""

    def __init__(self, remote: Remote, number: int, sources: list[int]):
        self.remote, self.number, self.sources = remote, number, sources

    def __del__(self) -> None:
        self.remote.forget(self.number)


class _Call(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, graph: _Graph, outputs: list[torch.Tensor], mark: torch.Tensor, *inputs: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        ctx.graph = graph
        ctx.save_for_backward(mark)  # freed by a backward that retains nothing, and a second one says so
        ctx.set_materialize_grads(False)
        return tuple(outputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> Any:
        _ = ctx.saved_tensors
        graph: _Graph = ctx.graph
        asked = [k for k, needed in zip(graph.sources, ctx.needs_input_grad[3:], strict=True) if needed]
        if not asked or all(one is None for one in gradients):
            return (None, None, None, *(None for _ in graph.sources))
        found = graph.remote.gradients(graph.number, asked, gradients)
        return (None, None, None, *(found.get(k) for k in graph.sources))


def _resolve(reference: Reference, given: Parcel) -> Any:
    """The caller's own tensor, list or dict, or a view of a tensor."""
    kind, number, *place = reference.numbers
    if kind == HOLDS:
        return given.containers[number]
    tensor = given.tensors[number]
    if kind == IS:
        return tensor
    differentiable, offset, *form = place
    rank = len(form) // 2
    base = tensor if differentiable else tensor.detach()
    return base.as_strided(form[:rank], form[rank:], offset)


def _write_back(answer: dict[str, Any], given: Parcel) -> None:
    """Do to the memory of the arguments what the call did to it."""
    for number, content in answer.get("written", {}).items():
        storage = given.storages[number]
        torch.empty(0, dtype=torch.uint8).set_(storage).copy_(torch.frombuffer(bytearray(content), dtype=torch.uint8))
        for tensor in given.tensors:
            if tensor.untyped_storage().data_ptr() == storage.data_ptr():
                torch.autograd.graph.increment_version(tensor)


def _fill(answer: dict[str, Any], given: Parcel) -> None:
    """Give arguments the form and the contents that the call left them with."""
    for number, requires, form in answer.get("forms", ()):
        tensor = given.tensors[number]
        tensor.data = form
        if tensor.requires_grad != requires:
            tensor.requires_grad_(requires) if tensor.is_leaf else tensor.detach_()
    for number, now in answer.get("contents", ()):
        container = given.containers[number]
        container.clear()
        container.extend(now) if isinstance(container, list) else container.update(now)


def _replaced(value: Any, attached: dict[int, torch.Tensor]) -> Any:
    """The value with the tensors that are part of the graph."""
    if isinstance(value, torch.Tensor):
        return attached.get(id(value), value)
    if isinstance(value, tuple):
        parts = [_replaced(part, attached) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        value[:] = [_replaced(part, attached) for part in value]
    if isinstance(value, dict):
        for key in value:
            value[key] = _replaced(value[key], attached)
    return value
