"""Observed against expected, facet by facet: what differs, by how much, where first.

A float64 facet is right when ||observed - expected|| <= 1e-5 ||expected||, over the whole and per token (there against
at least a thousandth of the mean token's norm, so that a token that is nearly zero can't condemn a right answer). A
gradient that is zero in exact arithmetic, such as a key bias's, is noise in every correct program: each is measured
against at least a tenth of the call's largest one, and a hundredth of its natural size, ||result * cotangent|| / ||x||.
NaN never passes. What judge/precision.py forgives later is named there. Structure, dtype and shape come before values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from judge.counted import counted
from judge.observation import Failure, Observation
from judge.processes.wire import Opaque
from judge.profile import first, index, pattern, shapes, short, where
from judge.program import Program

TOLERANCE = 1e-5
LOWER_PRECISION = 1e-8  # correct float64 programs agree better than that
TOKEN_FLOOR = 1e-3
_LOW_TOLERANCES = {"float32": 1e-3, "bfloat16": 5e-2, "float16": 1e-2}
_GRADIENT_FLOOR = 0.1
_NATURAL_FLOOR = 0.01
_ZERO_SCALE = 1e-3  # what an expected zero is measured against

Label = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Difference:
    """One facet that is not as it should be."""

    facet: str
    subject: str
    message: str
    error: float = float("inf")
    line: int | None = None


@dataclass(slots=True)
class Comparison:
    """All differences of one call, remarks, and the largest numeric error, also where it is small enough."""

    differences: list[Difference]
    remarks: list[str]
    worst: float = 0.0


def compare(observed: Observation, expected: Observation, program: Program, label: Label = str) -> Comparison:
    """Every facet of a call. ``label`` turns an argument's path into the name that the student knows."""
    result = Comparison([], [])
    if expected.error or program.raises:
        _compare_errors(observed.error, expected.error, program, result)
        result.differences += (manners if observed.error else _changed)(observed, label)
        return result
    if observed.error:
        result.differences.append(_raised(observed.error))
        return result
    for name in expected.values:
        if name in observed.values:
            _compare_values(observed.values[name], expected.values[name], name, program.dtype, result)
        else:
            result.differences.append(Difference("structure", name, "is missing"))
    _compare_gradients(observed, expected, label, result)
    result.differences += manners(observed, label)
    if not result.differences and result.worst > LOWER_PRECISION and program.dtype == "float64":
        result.remarks.append(lower_precision(result.worst))
    return result


def lower_precision(error: float) -> str:
    """The remark on a program that rounds more than its inputs ask for."""
    return f"computes in lower precision than its inputs (relative error {error:.1g})"


def same_form(observed: Observation, expected: Observation, program: Program, label: Label = str) -> Comparison:
    """For relations: structure, dtype, shape, finite where they should be, and manners. Constants may have any form."""
    result = Comparison([], [])
    if expected.error or program.raises or observed.error:
        return compare(observed, expected, program, label)
    free = {step.observe for step in program.steps if step.kind == "constant"}
    for name, value in expected.values.items():
        if name not in free:
            for kind, subject, one, other in pairs(observed.values.get(name), value, name):
                if kind != "tensor":
                    if kind == "structure":
                        result.differences.append(_structure(subject, one, other))
                    continue
                result.differences += _form(one, other, subject)
                if not one.isfinite().all() and other.isfinite().all():
                    result.differences.append(Difference("value", subject, "is not finite"))
    result.differences += manners(observed, label)
    return result


def relative_error(observed: torch.Tensor, expected: torch.Tensor, floor: float = 0.0) -> float:
    """||observed - expected|| over the larger of ||expected|| and ``floor``; inf if anything is not finite."""
    difference = torch.linalg.vector_norm(wide(observed) - wide(expected)).item()
    scale = max(torch.linalg.vector_norm(wide(expected)).item(), floor) or _ZERO_SCALE
    error = difference / scale
    return error if error == error else float("inf")


def tolerance(dtype: str) -> float:
    """How large a relative error may be in a call of that dtype."""
    return _LOW_TOLERANCES.get(dtype, TOLERANCE)


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in the precision that errors are measured in."""
    return tensor.to(torch.complex128) if tensor.is_complex() else tensor.double()


def _compare_errors(observed: Failure | None, expected: Failure | None, program: Program, result: Comparison) -> None:
    wanted = program.raises or (expected.type if expected else "")
    if observed is None:
        result.differences.append(Difference("error", "the call", f"returns, where {wanted} should be raised"))
    elif observed.kind != "raised" or not set(observed.bases).intersection(wanted.split(" or ")):
        message = f"raises {observed}, where {wanted} should be raised"
        result.differences.append(Difference("error", "the call", message, line=observed.line))
    elif program.naming and program.naming not in observed.message:
        result.remarks.append(f"the {wanted}'s message should name the offending value, {program.naming}")


def _raised(error: Failure) -> Difference:
    if error.kind == "state":
        return Difference("parameters", "the state_dict", error.message)
    if error.kind == "missing":
        return Difference("structure", "the answer", error.message)
    return Difference("error", "the call", f"raises {error}", line=error.line)


def _compare_values(observed: Any, expected: Any, name: str, dtype: str, result: Comparison) -> None:
    for kind, subject, one, other in pairs(observed, expected, name):
        if kind == "structure":
            result.differences.append(_structure(subject, one, other))
        elif kind == "plain":
            error = _plain_error(one, other)
            result.worst = max(result.worst, error)
            if error > tolerance(dtype):
                message = f"is {short(one)}, expected {short(other)}"
                result.differences.append(Difference("value", subject, message, error))
        else:
            form = _form(one, other, subject)
            result.differences += form
            if not any(difference.facet == "shape" for difference in form):
                difference, error = _tensor(one, other, subject, dtype)
                result.worst = max(result.worst, error)
                if difference:
                    result.differences.append(difference)


def _plain_error(observed: Any, expected: Any) -> float:
    """Floats are measured as tensors are; everything else is equal or not."""
    if observed == expected:
        return 0.0
    if not isinstance(expected, float):
        return float("inf")
    one, other = (torch.tensor(value, dtype=torch.float64) for value in (observed, expected))
    return relative_error(one, other)


def pairs(observed: Any, expected: Any, subject: str) -> Iterator[tuple[str, str, Any, Any]]:
    """The leaves of two values side by side, as (kind, subject, observed, expected)."""
    if isinstance(expected, torch.Tensor):
        yield ("tensor" if isinstance(observed, torch.Tensor) else "structure"), subject, observed, expected
    elif isinstance(expected, (tuple, list)):
        if type(observed) is not type(expected) or len(observed) != len(expected):
            yield "structure", subject, observed, expected
            return
        for index, (one, other) in enumerate(zip(observed, expected, strict=True)):
            yield from pairs(one, other, f"{subject}[{index}]")
    elif isinstance(expected, dict):
        if type(observed) is not dict or observed.keys() != expected.keys():
            yield "structure", subject, observed, expected
            return
        for key in expected:
            yield from pairs(observed[key], expected[key], f"{subject}[{key!r}]")
    else:
        yield ("plain" if type(observed) is type(expected) else "structure"), subject, observed, expected


def _structure(subject: str, observed: Any, expected: Any) -> Difference:
    return Difference("structure", subject, f"is {_kind(observed)}, expected {_kind(expected)}")


def _form(observed: torch.Tensor, expected: torch.Tensor, subject: str) -> list[Difference]:
    found = []
    if observed.dtype != expected.dtype:
        message = f"has dtype {_name(observed.dtype)}, expected {_name(expected.dtype)}"
        found.append(Difference("dtype", subject, message))
    if observed.shape != expected.shape:
        message = f"has shape {tuple(observed.shape)}, expected {tuple(expected.shape)}"
        hint = shapes(tuple(observed.shape), tuple(expected.shape))
        found.append(Difference("shape", subject, f"{message}: {hint}" if hint else message))
    return found


def _tensor(
    observed: torch.Tensor, expected: torch.Tensor, subject: str, dtype: str
) -> tuple[Difference | None, float]:
    """The difference of two tensors of one shape, if it counts, and the error in any case."""
    if expected.numel() == 0:
        return None, 0.0
    if not (expected.is_floating_point() or expected.is_complex()):
        wrong = observed != expected
        if not bool(wrong.any()):
            return None, 0.0
        message = where(observed, expected, wrong) + pattern(observed, expected, wrong)
        return Difference("value", subject, message), float("inf")
    one, other = wide(observed), wide(expected)
    finite = torch.isfinite(one)
    if not bool(finite.all()):
        place = first(~finite)
        odd = int((~finite).sum())
        count = f"{odd} of {counted(one.numel(), 'entry', 'entries')} {'is' if odd == 1 else 'are'} not finite"
        message = f"is {one[place].item()} at {index(place)}; {count}"
        return Difference("value", subject, message), float("inf")
    if dtype != "float64":
        error = ((one - other).abs().max() / other.abs().max().clamp_min(1e-30)).item()
        if error <= tolerance(dtype):
            return None, 0.0
        return Difference("value", subject, f"is off by {error:.1%} of the largest value in {dtype}", error), error
    whole, tokens = relative_error(one, other), _token_errors(one, other)
    error = max(whole, tokens.max().item())
    if error <= TOLERANCE:
        return None, whole
    wrong = (one - other).abs() > TOLERANCE * other.abs().mean().clamp_min(1e-30)
    of = f"relative error {error:.2g}{' in the worst row' if error > whole else ''}"
    message = f"{where(one, other, wrong, of)}{pattern(one, other, wrong)}"
    return Difference("value", subject, message, error), error


def _token_errors(observed: torch.Tensor, expected: torch.Tensor, floor: float = 0.0) -> torch.Tensor:
    if expected.dim() < 2:
        return torch.zeros(1)
    norms = torch.linalg.vector_norm(expected, dim=-1)
    scale = norms.clamp_min(max(TOKEN_FLOOR * norms.mean().item(), floor))
    scale = torch.where(scale == 0, _ZERO_SCALE, scale)
    errors: torch.Tensor = torch.linalg.vector_norm(observed - expected, dim=-1) / scale
    return errors


def _compare_gradients(observed: Observation, expected: Observation, label: Label, result: Comparison) -> None:
    if observed.gradient_error:
        failure = observed.gradient_error
        message = f"raises {failure}"
        result.differences.append(Difference("gradient", "the backward pass", message, line=failure.line))
        return
    for name in observed.detached:
        if name not in expected.detached:
            result.differences.append(Difference("gradient", name, "is cut off from the graph: no gradient flows back"))
    for name in observed.untouched:
        if name not in expected.untouched:
            result.differences.append(
                Difference("gradient", f"gradient of {label(name)}", "is missing: no gradient reaches it in this dtype")
            )
    for name in observed.infinite:
        if name not in expected.infinite:
            result.differences.append(
                Difference("gradient", f"gradient of {label(name)}", "is not finite in this dtype")
            )
    if any(difference.facet == "gradient" for difference in result.differences):
        return
    norms = [torch.linalg.vector_norm(wide(g)).item() for g in expected.gradients.values() if g is not None]
    largest = _GRADIENT_FLOOR * max(norms, default=0.0)
    for name, wanted in expected.gradients.items():
        floor = max(largest, _NATURAL_FLOOR * expected.scales.get(name, 0.0))
        difference, error = _gradient(observed.gradients.get(name), wanted, f"gradient of {label(name)}", floor)
        result.worst = max(result.worst, error)
        if difference:
            result.differences.append(difference)
    for name in observed.apart:
        message = "is missing, or another, where other inputs need no gradient"
        result.differences.append(Difference("gradient", f"gradient of {label(name)}", message))


def _gradient(
    observed: torch.Tensor | None, expected: torch.Tensor | None, subject: str, floor: float
) -> tuple[Difference | None, float]:
    if observed is None and expected is None:
        return None, 0.0
    like = expected if expected is not None else observed
    assert like is not None
    wanted = wide(torch.zeros_like(like) if expected is None else expected)
    given = wide(torch.zeros_like(like) if observed is None else observed)
    if given.shape != wanted.shape:
        message = f"has shape {tuple(given.shape)}, expected {tuple(wanted.shape)}"
        return Difference("gradient", subject, message), float("inf")
    if not bool(torch.isfinite(given).all()):
        return Difference("gradient", subject, "is not finite"), float("inf")
    error = relative_error(given, wanted, floor)
    if wanted.dim() > 1 and wanted.numel():
        tokens = wanted.shape[:-1].numel()
        error = max(error, _token_errors(given, wanted, floor / tokens**0.5).max().item())
    if error <= TOLERANCE:
        return None, error
    if observed is None:
        return Difference("gradient", subject, "is missing: no gradient reaches it", error), error
    if expected is None:
        return Difference("gradient", subject, "exists, where there should be none", error), error
    return Difference("gradient", subject, f"is off (relative error {error:.2g})", error), error


def _changed(observed: Observation, label: Label) -> Iterator[Difference]:
    for path, what in observed.changed:
        yield Difference("inputs unchanged", label(path), f"is changed by the call ({what})")


def manners(observed: Observation, label: Label = str) -> Iterator[Difference]:
    """What a call did besides giving its result: to its inputs, to settings, to earlier results, or when repeated."""
    yield from _changed(observed, label)
    for name in observed.settings:
        yield Difference("settings", "PyTorch's settings", f"the call leaves the {name} changed")
    if observed.generator:
        yield Difference("settings", "PyTorch's random generator", "the call draws from it or seeds it")
    if observed.repeat_error:
        error = observed.repeat_error
        yield Difference("repeatable", "a second call", f"raises {error}", line=error.line)
    for name, value in observed.repeat.items():
        if _unlike(value, observed.values.get(name), name) > TOLERANCE:  # under no_grad other kernels may run
            yield Difference("repeatable", name, "differs when the same call is made again")
    for name, value in observed.tracked.items():
        if _unlike(value, observed.values.get(name), name) > TOLERANCE:
            yield Difference(
                "repeatable", name, "differs when the same call is made again, on inputs that require grad"
            )
    for name in observed.stale:
        yield Difference("repeatable", name, "is that of an earlier call: its inputs were changed in place since")
    for name in observed.overwritten:
        yield Difference("repeatable", name, "is overwritten by a later call")
    if observed.mixed:
        message = "mixes tensors of two devices: what is made inside must be on the input's device"
        yield Difference("device", "the call", message, line=observed.mixed.line)
    for name in observed.elsewhere:
        yield Difference("device", name, "is not on the device of the inputs")


def _unlike(one: Any, other: Any, name: str) -> float:
    """How far two results of the same call are apart."""
    again = Comparison([], [])
    _compare_values(one, other, name, "float64", again)
    return float("inf") if again.differences else again.worst


def _kind(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, dict):
        return f"a dict with keys {short(sorted(map(str, value)))}"
    if isinstance(value, Opaque):
        return f"a value of type {value.type_name}"
    return "None" if value is None else "an int" if type(value) is int else f"a {type(value).__name__}"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
