"""A fake accelerator: tensors that compute on the CPU and say, and insist, that they live elsewhere.

A tensor of the accelerator is a CPU tensor of the class `Elsewhere`. While the mode is on it sees every call of
PyTorch's Python interface: it answers questions about the device, lets factories and `.to` put tensors there, and
raises DeviceMismatchError where PyTorch would on a real accelerator. Values are real, so code that reads them goes on.
(The meta device misses most mixtures; FakeTensorMode imports torch._dynamo for a second and can't index in a CPU
build.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

DEVICE = torch.device("cuda", 0)
_CPU = torch.device("cpu")
_T = torch.Tensor
_DEVICE_OF = _T.device.__get__
_IS_CUDA = _T.is_cuda.__get__  # type: ignore[attr-defined]
_IS_CPU = _T.is_cpu.__get__  # type: ignore[attr-defined]
_PARSE_TO = torch._C._nn._parse_to
_COPIES = (_T.copy_, _T.__setitem__)  # values may come from anywhere
_TYPES = f"torch.{DEVICE.type}."  # what the names of its tensors' types begin with
_AFTER_ANOTHER = (_T.type_as, _T.to)
_SCRIPTED = tuple((kind, kind.__call__) for kind in (torch._C.ScriptFunction, torch._C.ScriptMethod))
PLAIN = (torch.Tensor, torch.nn.Parameter, getattr(torch.nn, "Buffer", torch.Tensor))
_IN_THE_SHAPE_OF = (_T.expand_as, _T.view_as, _T.reshape_as)  # only the other's shape counts
_WHERE_THE_FIRST_IS = (*_COPIES, *_IN_THE_SHAPE_OF)


_ABOUT_PLACES = frozenset(
    (_DEVICE_OF, _IS_CUDA, _IS_CPU, torch._has_compatible_shallow_copy_type, _PARSE_TO, _T.type, _T.cuda, _T.cpu)
    + (*_AFTER_ANOTHER, *_WHERE_THE_FIRST_IS)
)  # asked or given a place by more than their arguments' own


class Elsewhere(torch.Tensor):
    """A tensor on the fake accelerator."""


_KNOWN = (*PLAIN, Elsewhere)
_THERE = frozenset((Elsewhere, int, float, bool, type(None), torch.dtype))
_NO_TENSORS = frozenset((int, float, bool, str, type(None), torch.dtype, torch.device))
_AS_THEY_ARE = frozenset((int, float, bool, type(None), torch.dtype, *_KNOWN))


class DeviceMismatchError(RuntimeError):
    """Tensors of two devices met in one operation."""


class FakeDevice(TorchFunctionMode):
    """Within it there is an accelerator."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func not in _ABOUT_PLACES and _all_there(args, kwargs):  # as nearly always, and a third of the time
            with torch._C.DisableTorchFunctionSubclass():
                return _placed(func(*args, **kwargs) if kwargs else func(*args), True)
        kwargs = dict(kwargs or {})
        if func in (_DEVICE_OF, _IS_CUDA, _IS_CPU):
            there = isinstance(args[0], Elsewhere)
            return {_DEVICE_OF: DEVICE if there else _CPU, _IS_CUDA: there, _IS_CPU: not there}[func]
        if func is torch._has_compatible_shallow_copy_type:  # nn.Module.to and to_empty ask; across devices: no
            return isinstance(args[0], Elsewhere) == isinstance(args[1], Elsewhere)
        if func is torch.device:  # a name, not a place: code may ask for the accelerator's
            return func(*args, **kwargs)
        if func is _PARSE_TO:  # what nn.Module.to was given; the tensors that it moves come by themselves
            device, *others = func(*args, **kwargs)
            like = args[0] if args else kwargs.get("tensor")
            return DEVICE if isinstance(like, Elsewhere) else device, *others
        if func is _T.type and len(args) == 1 and not kwargs and isinstance(args[0], Elsewhere):
            return func(args[0]).replace("torch.", _TYPES, 1)
        if func is _T.cuda:  # a build without CUDA would refuse
            return _placed(args[0], True)
        with torch._C.DisableTorchFunctionSubclass():
            there = _destination(func, args, kwargs)
            return _placed(func(*_on_cpu(args), **_on_cpu(kwargs)), there)

    def __enter__(self) -> Any:
        for kind, call in _SCRIPTED:
            kind.__call__ = _placing(call)  # type: ignore[method-assign]
        return super().__enter__()  # type: ignore[no-untyped-call]

    def __exit__(self, *exc: Any) -> None:
        super().__exit__(*exc)  # type: ignore[no-untyped-call]
        for kind, call in _SCRIPTED:
            kind.__call__ = call  # type: ignore[method-assign]


def _all_there(args: Any, kwargs: Any) -> bool:
    """Whether the arguments are numbers and tensors of the accelerator, one at least, and nothing is transformed."""
    kinds = set(map(type, args))
    if kwargs:
        kinds.update(map(type, kwargs.values()))
    return Elsewhere in kinds and kinds <= _THERE and torch._C._functorch.peek_interpreter_stack() is None


def _placing(call: Any) -> Any:
    """Scripted code runs past the mode and loses the class; its results are where its arguments are."""

    def placed(self: Any, *args: Any, **kwargs: Any) -> Any:
        there = any(isinstance(tensor, Elsewhere) for tensor in (*_tensors(args), *_tensors(kwargs.values())))
        return _placed(call(self, *args, **kwargs), there)

    return placed


def put(tensor: torch.Tensor) -> Elsewhere:
    """The tensor, on the fake accelerator."""
    return tensor.detach().as_subclass(Elsewhere)


def _destination(func: Any, args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether the result is on the accelerator. Raises DeviceMismatchError."""
    named = _named_device(func, args, kwargs)
    if named is not None:
        return named.type == DEVICE.type
    if func is _T.cpu:
        return False
    if func in _AFTER_ANOTHER and len(args) > 1 and isinstance(args[1], torch.Tensor):
        return isinstance(args[1], Elsewhere)
    tensors = _tensors(args) + _tensors(kwargs.values())
    there = any(type(tensor) is Elsewhere for tensor in tensors)
    if _hidden(tensors):
        raise RuntimeError("inside torch.func a tensor hides where it lives")
    if func in _WHERE_THE_FIRST_IS:
        return isinstance(args[0], Elsewhere)
    if func is _T.__getitem__ and isinstance(args[0], Elsewhere):  # indices may be on the CPU
        return True
    if there and any(type(tensor) is not Elsewhere and tensor.dim() for tensor in tensors):
        name = getattr(func, "__name__", "an operation")
        raise DeviceMismatchError(f"{name} got tensors of two devices, {DEVICE} and cpu")
    return there


def _hidden(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether one is a wrapper of vmap, grad or another transformation, which can't be asked for its class."""
    if any(type(tensor) not in _KNOWN for tensor in tensors):
        return True
    transforming = torch._C._functorch.peek_interpreter_stack() is not None
    return transforming and any(map(torch._C._functorch.is_functorch_wrapped_tensor, tensors))


def _named_device(func: Any, args: Any, kwargs: dict[str, Any]) -> torch.device | None:
    device = kwargs.get("device")
    if device is None and func is _T.to and len(args) > 1 and isinstance(args[1], (str, torch.device)):
        try:
            device = torch.device(args[1])
        except RuntimeError:
            return None
    kind = args[1] if func is _T.type and len(args) > 1 else kwargs.get("dtype") if func is _T.type else None
    if kind is not None and not isinstance(
        kind, torch.dtype
    ):  # a tensor type, by its name or itself, names a device too
        return DEVICE if str(kind).startswith(_TYPES) else _CPU
    return None if device is None else torch.device(device)


def _on_cpu(value: Any) -> Any:
    """The arguments with the accelerator's name replaced by the CPU's."""
    if type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, torch.device):
        return _CPU
    if isinstance(value, str) and value.split(":")[0] == DEVICE.type:
        return "cpu"
    if isinstance(value, str) and value.startswith(_TYPES):
        return value.replace(_TYPES, "torch.", 1)
    if isinstance(value, dict):
        return {key: _on_cpu(part) for key, part in value.items()}
    return type(value)(_on_cpu(part) for part in value) if type(value) in (list, tuple) else value


def _placed(result: Any, there: bool) -> Any:
    if isinstance(result, torch.Tensor):
        wanted = Elsewhere if there else torch.Tensor
        return result if isinstance(result, Elsewhere) == there else result.as_subclass(wanted)
    if type(result) in (list, tuple):
        return type(result)(_placed(part, there) for part in result)
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*(_placed(part, there) for part in result))
    if isinstance(result, tuple):  # PyTorch's own named tuples, such as max(dim)
        return type(result)([_placed(part, there) for part in result])
    return result


def _tensors(values: Iterable[Any]) -> list[torch.Tensor]:
    """Every tensor among these values and in their containers; most arguments are plain, so those are done first."""
    found: list[torch.Tensor] = []
    for value in values:
        kind = type(value)
        if kind in _NO_TENSORS:
            continue
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, dict):
            found += _tensors(value.values())
        elif isinstance(value, (list, tuple)):
            found += _tensors(value)
    return found
