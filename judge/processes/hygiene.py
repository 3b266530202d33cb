"""What a well-behaved call leaves as it was: its inputs, PyTorch's settings and its random generator.

Reported by the worker about itself: a submission that tampers with this deceives only itself about its manners.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import MethodType
from typing import Any

import torch
from torch.nn.modules import module as _modules

from judge.processes.given import GivenModule

_seed_generator, _urandom = torch.default_generator.manual_seed, os.urandom
_generator_state = torch.default_generator.get_state
_equal = torch.equal
_registered = [0]
_attention_backends = [
    getattr(torch.backends.cuda, f"{name}_sdp_enabled") for name in ("flash", "mem_efficient", "math")
]


def input_tensors(value: Any, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor in an argument, with its path ("x", "block_params.gamma1", "masks.0")."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from input_tensors(part, f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            yield from input_tensors(part, f"{path}.{index}")


class Snapshot:
    """The inputs of a call as they were before it."""

    def __init__(self, arguments: dict[str, Any]):
        self._arguments = arguments
        self._containers = [(path, part, _shallow(part)) for path, part in _containers(arguments, "")]
        self._modules = [(path.lstrip("."), m, _mode(m), _gradients(m)) for path, m in _given_modules(arguments, "")]
        parameters = [(f"{path}.{key}", p) for path, m, _, _ in self._modules for key, p in m.named_parameters()]
        self._tensors = [
            (path.lstrip("."), tensor, tensor.detach().clone(), _form(tensor), _gradient(tensor))
            for path, tensor in (*input_tensors(arguments), *parameters)
        ]

    def changes(self) -> list[list[str]]:
        """What is no longer as it was: pairs of an input's path and what about it changed."""
        found = []
        for path, tensor, copy, form, gradient in self._tensors:
            if _form(tensor) != form:
                found.append([path, "shape or flags"])
            elif not _same_bits(tensor.detach(), copy):
                found.append([path, "values"])
            elif gradient is not None and not _same_gradient(_gradient(tensor), gradient):
                found.append([path, "its .grad"])
        for path, module, mode, gradients in self._modules:
            if _mode(module) != mode:
                found.append([path, "its mode or its hooks"])
            for key in sorted(_gradients(module) - gradients):
                found.append([f"{path}.{key}", "its .grad"])
        for path, part, parts in self._containers:
            now = _shallow(part)
            if len(now) != len(parts) or any(a is not b for a, b in zip(now, parts, strict=True)):
                found.append([path.lstrip("."), "contents"])
        return found


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


def _given_modules(value: Any, path: str) -> Iterator[tuple[str, GivenModule]]:
    """The judge's own modules, also where only their forward is given."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _given_modules(part, f"{path}.{key}")
    elif isinstance(value, (list, tuple, torch.nn.ModuleList)):
        for index, part in enumerate(value):
            yield from _given_modules(part, f"{path}.{index}")
    else:
        module = value.__self__ if isinstance(value, MethodType) else value
        if isinstance(module, GivenModule):
            yield path, module


def _mode(module: GivenModule) -> tuple[bool, int]:
    hooks = (module._forward_hooks, module._forward_pre_hooks, module._backward_hooks, module._backward_pre_hooks)
    return module.training, sum(map(len, hooks))


def _gradients(module: GivenModule) -> set[str]:
    """The parameters that have one: of these what it is is watched, too."""
    return {key for key, parameter in module.named_parameters() if parameter.grad is not None}


def _containers(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (dict, list, tuple)):
        if path and not isinstance(value, tuple):  # the outermost dict is the judge's own
            yield path, value
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            yield from _containers(part, f"{path}.{key}")


def _shallow(part: Any) -> list[Any]:
    return [*part.keys(), *part.values()] if isinstance(part, dict) else list(part)


def _form(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype, tensor.requires_grad, tensor.is_leaf


def _gradient(tensor: torch.Tensor) -> torch.Tensor | None:
    return tensor.grad.detach().clone() if tensor.is_leaf and tensor.grad is not None else None


def _same_gradient(now: torch.Tensor | None, before: torch.Tensor) -> bool:
    return now is not None and now.shape == before.shape and _same_bits(now, before)


def _same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.is_floating_point():
        return _equal(one, other) or bool(((one == other) | ((one != one) & (other != other))).all())
    return _equal(one, other)


_modules.register_module_parameter_registration_hook(_note_parameter)
