"""An observation as the oracle side holds it: decoded and, where it came from a student worker, checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from judge.processes.wire import WireError, decode_result

_SAID = 300  # characters of a message that a sentence can take


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception as the worker described it."""

    kind: str  # raised, memory, output, state, missing, harness (where what it gave is looked at)
    type: str
    bases: tuple[str, ...]
    message: str
    line: int | None
    traceback: tuple[str, ...]

    def __str__(self) -> str:
        first = next(iter(self.message.splitlines()), "")
        said = first if len(first) <= _SAID else f"{first[:_SAID]} ..."
        return f"{self.type}: {said}" if said else self.type


@dataclass(frozen=True, slots=True)
class Observation:
    """What one call gave; see judge/processes/runner.py for the parts."""

    error: Failure | None = None
    values: dict[str, Any] = field(default_factory=dict)
    gradient_error: Failure | None = None
    gradients: dict[str, torch.Tensor | None] = field(default_factory=dict)
    scales: dict[str, float] = field(default_factory=dict)  # of the reference only
    detached: tuple[str, ...] = ()
    repeat_error: Failure | None = None
    repeat: dict[str, Any] = field(default_factory=dict)
    tracked: dict[str, Any] = field(default_factory=dict)
    overwritten: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()
    infinite: tuple[str, ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    settings: tuple[str, ...] = ()
    generator: bool = False
    mixed: Failure | None = None
    elsewhere: tuple[str, ...] = ()


def from_worker(body: bytes) -> Observation:
    """The observation in a student worker's frame. Raises WireError for whatever is not exactly of the form."""
    raw = decode_result(body)
    if type(raw) is not dict or not all(type(key) is str for key in raw):
        raise WireError("the answer is no observation")
    return from_parts(raw)


def from_parts(raw: dict[str, Any]) -> Observation:
    """The observation in the runner's dict. Raises WireError as above."""
    device, generator = raw.get("device"), raw.get("generator", False)
    device = {} if device is None else device
    if type(device) is not dict or type(generator) is not bool:
        raise WireError("the answer is no observation")
    return Observation(
        error=_failure(raw.get("error")),
        values=_values(raw.get("values", {})),
        gradient_error=_failure(raw.get("gradient_error")),
        gradients=_gradients(raw.get("gradients", {})),
        detached=_names(raw.get("detached", [])),
        repeat_error=_failure(raw.get("repeat_error")),
        repeat=_values(raw.get("repeat", {})),
        tracked=_values(raw.get("tracked", {})),
        overwritten=_names(raw.get("overwritten", [])),
        stale=_names(raw.get("stale", [])),
        apart=_names(raw.get("apart", [])),
        untouched=_names(raw.get("untouched", [])),
        infinite=_names(raw.get("infinite", [])),
        changed=_pairs([*_list(raw.get("changed", [])), *_list(raw.get("grad_changed", []))]),
        settings=_names(raw.get("settings", [])),
        generator=generator,
        mixed=_failure(device.get("mixed")),
        elsewhere=_names(device.get("elsewhere", [])),
    )


def _failure(raw: Any) -> Failure | None:
    if raw is None:
        return None
    if type(raw) is not dict:
        raise WireError("a failure of unknown form")
    kind, name, message, line = (raw.get(key) for key in ("kind", "type", "message", "line"))
    if not (type(kind) is type(name) is type(message) is str) or (line is not None and type(line) is not int):
        raise WireError("a failure of unknown form")
    return Failure(kind, name, _names(raw.get("bases")), message, line, _names(raw.get("traceback")))


def _values(raw: Any) -> dict[str, Any]:
    if type(raw) is not dict or not all(type(key) is str and type(data) is bytes for key, data in raw.items()):
        raise WireError("values of unknown form")
    return {name: decode_result(data) for name, data in raw.items()}


def _gradients(raw: Any) -> dict[str, torch.Tensor | None]:
    if type(raw) is not dict or not all(type(key) is str for key in raw):
        raise WireError("gradients of unknown form")
    if not all(part is None or isinstance(part, torch.Tensor) for part in raw.values()):
        raise WireError("a gradient that is no tensor")
    return raw


def _list(raw: Any) -> list[Any]:
    if type(raw) is not list:
        raise WireError("a list of unknown form")
    return raw


def _names(raw: Any) -> tuple[str, ...]:
    names = _list(raw)
    if not all(type(name) is str for name in names):
        raise WireError("a list of unknown form")
    return tuple(names)


def _pairs(raw: list[Any]) -> tuple[tuple[str, str], ...]:
    pairs = [_names(pair) for pair in raw]
    if any(len(pair) != 2 for pair in pairs):
        raise WireError("a list of unknown form")
    return tuple(dict.fromkeys((one, other) for one, other in pairs))
