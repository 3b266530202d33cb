"""The report as JSON: all of it, keys in the order of the models, plain ASCII.

A number that is not finite is written as null, because JSON has no word for it.
"""

from __future__ import annotations

import json
import math

from judge.models import Report

Plain = dict[str, "Plain"] | list["Plain"] | str | int | float | bool | None


def render(report: Report, *, verbose: bool = True, following: str | None = None, options: str = "") -> str:
    """Write the report; it is always complete, whatever the view that was asked for."""
    return json.dumps(_finite(report.model_dump(mode="json")), indent=2, allow_nan=False)


def _finite(value: Plain) -> Plain:
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
