"""Submissions that compute in float32 inside, of float64 inputs: their rounding is a remark and no difference.

One call alone can't tell rounding from a formula that is slightly off: large scores, or gradients that nearly cancel,
multiply what is 1e-7 elsewhere. All calls together can: whoever rounds, rounds everywhere. Where accuracy is promised,
cases make rounding cost far more than what is forgiven here.
"""

from __future__ import annotations

from collections.abc import Iterable

from judge.compare import LOWER_PRECISION, Comparison, Difference, lower_precision

_ROUNDING = 1e-4  # the mildest seeded bug differs by 1e-3 somewhere: `judge verify` asks for it
_ENOUGH = 4  # calls, to tell
_FACETS = ("value", "gradient")


def forgive_rounding(comparisons: Iterable[Comparison]) -> None:
    """Drop differences as small as rounding, if most calls show rounding; all are float64 calls with numbers."""
    near = [comparison for comparison in comparisons if comparison.worst <= _ROUNDING]
    if len(near) < _ENOUGH or 2 * sum(comparison.worst > LOWER_PRECISION for comparison in near) <= len(near):
        return
    for comparison in near:
        small = [difference for difference in comparison.differences if _is_small(difference)]
        if small:
            comparison.differences[:] = [one for one in comparison.differences if not _is_small(one)]
            comparison.remarks.append(lower_precision(comparison.worst))


def _is_small(difference: Difference) -> bool:
    return difference.facet in _FACETS and difference.error <= _ROUNDING
