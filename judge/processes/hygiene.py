"""What a well-behaved call leaves as it was: its inputs, PyTorch's settings and its random generator.

Reported by the worker about itself: a submission that tampers with this deceives only itself about its manners.
"""

from __future__ import annotations

import ctypes
import operator
import os
from collections.abc import Iterator
from types import MethodType
from typing import Any

import torch
from torch.nn.modules import module as _modules

from judge.processes.given import GivenModule
from judge.processes.wire import MAX_DEPTH

_seed_generator, _urandom = torch.default_generator.manual_seed, os.urandom
_generator_state = torch.default_generator.get_state
_equal = torch.equal
_read_memory = ctypes.string_at
_registered = [0]
_TINY = 5e-310  # a denormal: zero to a processor that flushes them
Path = tuple[Any, ...]
_attention_backends = [
    getattr(torch.backends.cuda, f"{name}_sdp_enabled") for name in ("flash", "mem_efficient", "math")
]


def input_tensors(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor in an argument, with its path ("x", "block_params.gamma1", "masks.0"), as deep as values cross."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif depth > MAX_DEPTH:
        return
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from input_tensors(part, f"{path}.{key}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            yield from input_tensors(part, f"{path}.{index}", depth + 1)


class Snapshot:
    """The inputs of a call as they were before it."""

    def __init__(self, arguments: dict[str, Any]):
        tensors: list[tuple[Path, torch.Tensor]] = []
        self._containers: list[tuple[Path, Any, list[Any]]] = []
        modules: list[tuple[Path, GivenModule]] = []
        for name, argument in arguments.items():
            _sort(argument, (name,), tensors, self._containers, modules)
        self._modules = [(path, module, _mode(module), _gradients(module)) for path, module in modules]
        for path, module in modules:
            tensors += [((*path, key), parameter) for key, parameter in module.named_parameters()]
        self._tensors = [(path, one, _form(one), memory_of(one), _gradient(one)) for path, one in tensors]

    def changes(self) -> list[list[str]]:
        """What is no longer as it was: pairs of an input's path and what about it changed."""
        found: list[tuple[Path, str]] = []
        for path, tensor, form, memory, gradient in self._tensors:
            if _form(tensor) != form:
                found.append((path, "shape or flags"))
            elif not same_values(tensor, memory):
                found.append((path, "values"))
            elif gradient is not None and not _same_gradient(_gradient(tensor), gradient):
                found.append((path, "its .grad"))
        for path, module, mode, gradients in self._modules:
            if _mode(module) != mode:
                found.append((path, "its mode or its hooks"))
            for key in sorted(_gradients(module) - gradients):
                found.append(((*path, key), "its .grad"))
        for path, part, parts in self._containers:
            now = _shallow(part)
            if len(now) != len(parts) or any(map(operator.is_not, now, parts)):
                found.append((path, "contents"))
        return [[".".join(map(str, path)), what] for path, what in found]


class ModuleState:
    """What a submission's module is beside its values: a forward pass leaves it as it is.

    Its own attributes may be named like PyTorch's methods.
    """

    def __init__(self, module: torch.nn.Module):
        self._modes = [(part, part.training) for part in torch.nn.Module.modules(module)]
        self._parameters = [(p, p.requires_grad, p.grad) for p in torch.nn.Module.parameters(module)]

    def changes(self) -> list[str]:
        """What is no longer as it was."""
        found = [
            "its mode" if any(part.training != mode for part, mode in self._modes) else "",
            "requires_grad" if any(one.requires_grad != needed for one, needed, _ in self._parameters) else "",
            "a .grad" if any(one.grad is not gradient for one, _, gradient in self._parameters) else "",
        ]
        return [what for what in found if what]


def _sort(
    value: Any,
    path: Path,
    tensors: list[tuple[Path, torch.Tensor]],
    containers: list[tuple[Path, Any, list[Any]]],
    modules: list[tuple[Path, GivenModule]],
) -> None:
    """Note what is in an argument: tensors, containers with their parts, the judge's own modules, also by a method."""
    if isinstance(value, torch.Tensor):
        tensors.append((path, value))
    elif isinstance(value, dict):
        containers.append((path, value, _shallow(value)))
        for key, part in value.items():
            _sort(part, (*path, key), tensors, containers, modules)
    elif isinstance(value, (list, tuple, torch.nn.ModuleList)):
        if isinstance(value, list):
            containers.append((path, value, list(value)))
        for index, part in enumerate(value):
            _sort(part, (*path, index), tensors, containers, modules)
    else:
        module = value.__self__ if isinstance(value, MethodType) else value
        if isinstance(module, GivenModule):
            modules.append((path, module))


def settings() -> dict[str, Any]:
    """PyTorch's global settings."""
    return {
        "grad mode": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        "default dtype": torch.get_default_dtype(),
        "default device": torch.get_default_device(),
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
        "anomaly detection": torch.is_anomaly_enabled(),
        "float32 matmul precision": torch.get_float32_matmul_precision(),
        "use of oneDNN": torch.backends.mkldnn.enabled,
        "autocast": torch.is_autocast_enabled("cpu"),
        "cuDNN settings": (torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark),
        "attention backends": [enabled() for enabled in _attention_backends],
        "fast path of attention": torch.backends.mha.get_fastpath_enabled(),
        "flushing of denormals": _TINY * 1.0 == 0.0,
    }


def changed_settings(before: dict[str, Any]) -> list[str]:
    """The names of the settings that differ from ``before``."""
    now = settings()
    return [name for name, value in before.items() if now[name] != value]


def generator_state() -> tuple[torch.Tensor, int, int]:
    """The state of PyTorch's global random generator, how many parameters modules were given so far, the seed."""
    return _generator_state(), _registered[0], torch.initial_seed()


def reseed(number: int | None = None) -> None:
    """Seed it, by default with what nobody knows: whoever seeds it to the same number each time shows each time."""
    _seed_generator(int.from_bytes(_urandom(7), "little") if number is None else number)


def same_seed(before: tuple[torch.Tensor, int, int]) -> bool:
    """Whether nobody has seeded it meanwhile: constructing a module may draw, but not seed."""
    return torch.initial_seed() == before[2]


def same_generator_state(before: tuple[torch.Tensor, int, int]) -> bool:
    """Whether it is as it was, or a module was made meanwhile: constructing one may draw, whoever does so."""
    state, registered, _ = before
    return registered != _registered[0] or _equal(state, _generator_state())


def _note_parameter(module: torch.nn.Module, name: str, parameter: torch.nn.Parameter) -> None:
    _registered[0] += 1


def _mode(module: GivenModule) -> tuple[bool, int]:
    hooks = (module._forward_hooks, module._forward_pre_hooks, module._backward_hooks, module._backward_pre_hooks)
    return module.training, sum(map(len, hooks))


def _gradients(module: GivenModule) -> set[str]:
    """The parameters that have one: of these what it is is watched, too."""
    return {key for key, parameter in module.named_parameters() if parameter.grad is not None}


def _shallow(part: Any) -> list[Any]:
    return [*part.keys(), *part.values()] if isinstance(part, dict) else list(part)


def _form(tensor: torch.Tensor) -> tuple[Any, ...]:
    place = (tensor.stride(), tensor.storage_offset()) if tensor.layout is torch.strided else ()
    return tensor.shape, place, tensor.dtype, tensor.requires_grad, tensor.is_leaf


def memory_of(tensor: torch.Tensor) -> bytes | torch.Tensor:
    """The bytes of all that a tensor is a view of, which are read and compared at once; of odd ones, a copy."""
    if tensor.layout is not torch.strided or not tensor.is_cpu or tensor.is_complex():
        return tensor.detach().clone()
    storage = tensor.untyped_storage()
    return _read_memory(storage.data_ptr(), storage.nbytes())


def same_values(tensor: torch.Tensor, memory: bytes | torch.Tensor) -> bool:
    """Whether a tensor's values are those that ``memory`` was taken of; what lies between them is no matter."""
    now = memory_of(tensor)
    if isinstance(now, bytes) and now == memory:
        return True
    if isinstance(now, torch.Tensor) or isinstance(memory, torch.Tensor):
        return isinstance(now, torch.Tensor) and isinstance(memory, torch.Tensor) and _same_bits(now, memory)
    storage = torch.frombuffer(bytearray(memory), dtype=torch.uint8).untyped_storage()
    before = torch.empty(0, dtype=tensor.dtype).set_(storage, tensor.storage_offset(), tensor.shape, tensor.stride())
    return _same_bits(tensor.detach(), before)


def _gradient(tensor: torch.Tensor) -> torch.Tensor | None:
    return tensor.grad.detach().clone() if tensor.is_leaf and tensor.grad is not None else None


def _same_gradient(now: torch.Tensor | None, before: torch.Tensor) -> bool:
    return now is not None and now.shape == before.shape and _same_bits(now, before)


def _same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.is_floating_point():
        return _equal(one, other) or bool(((one == other) | ((one != one) & (other != other))).all())
    return _equal(one, other)


_modules.register_module_parameter_registration_hook(_note_parameter)
