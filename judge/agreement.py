"""When two observations of one call are the same: a submission's and a mutant's, or two mutants'."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import torch

from judge.compare import compare, manners
from judge.observation import Observation
from judge.program import Program

FAR = 10.0  # relative error norms beyond this, other shapes, an error where a value is due: all the same
_RESULTS = ("value", "gradient", "shape", "dtype", "structure")


def agree(one: Observation, other: Observation, program: Program, scales: dict[str, float]) -> bool:
    """Whether two observations of a call are the same in every facet; ``scales``: the gradients' natural sizes."""
    if one.error or other.error:
        return _same_error(one, other, asked=program.raises is not None)
    did = [{(d.facet, d.subject, d.message * (d.facet == "settings")) for d in manners(o)} for o in (one, other)]
    if did[0] != did[1] or (one.gradient_error is None) != (other.gradient_error is None):
        return False
    if program.random:
        return True
    asked = replace(program, raises=None)  # both returned, asked for or not
    differences = compare(_finite(one), replace(_finite(other), scales=scales), asked).differences
    return not any(d.facet in _RESULTS for d in differences) and set(one.detached) == set(other.detached)


def distance(one: Observation, other: Observation, program: Program) -> float:
    """How far the values of two observations are apart: 0 if not at all, or both raise the same, FAR at most.

    Gradients and manners are left out.
    """
    if one.error or other.error:
        return 0.0 if _same_error(one, other, asked=program.raises is not None) else FAR
    given, expected = (_finite(Observation(values=observation.values)) for observation in (one, other))
    differences = compare(given, expected, replace(program, raises=None)).differences
    return min(FAR, max((difference.error for difference in differences), default=0.0))


def _same_error(one: Observation, other: Observation, *, asked: bool) -> bool:
    """Whether both raised the same. ``asked``: an error is asked for, so a wrong one is a check that is missing."""
    if not (one.error and other.error) or one.error.type != other.error.type:
        return False
    if one.error.kind == "state":
        return one.error.message == other.error.message  # which keys, which shapes
    if one.error.type == "RuntimeError" and not asked:  # one type for all that PyTorch can't do, with a text for each
        return _wording(one.error.message) == _wording(other.error.message)
    return True


def _wording(message: str) -> list[str]:
    """The words of a message: sizes, and how many there are, don't count."""
    return re.findall(r"[A-Za-z]+", message)


def _finite(observation: Observation) -> Observation:
    """NaN and infinities as numbers: two wrong results that are not finite at the same places are alike."""
    return replace(observation, values=_as_numbers(observation.values), gradients=_as_numbers(observation.gradients))


def _as_numbers(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.nan_to_num(nan=1e3, posinf=2e3, neginf=-2e3)
    if isinstance(value, float) and not math.isfinite(value):
        return 1e3 if math.isnan(value) else math.copysign(2e3, value)
    if isinstance(value, dict):
        return {key: _as_numbers(part) for key, part in value.items()}
    return type(value)(map(_as_numbers, value)) if isinstance(value, (list, tuple)) else value
