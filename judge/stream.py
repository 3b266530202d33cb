"""The residual stream by depth, from returned tensors: the student's beside the reference's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch

from judge.authoring import BETWEEN
from judge.observation import Observation

_GROWS = 0.15  # a fitted exponent below this counts as staying level
_CLOSE = 0.1
_SAME = 1.15  # a gradient whose norm changes by less has kept its size


def curve(label: str, observed: Observation | None, expected: Observation) -> dict[str, Any]:
    """One curve as the report holds it: depths, root mean squares of both streams, gradient norms, a sentence.

    The values of both are the stream at depth 0, 1, ..., in the order of the reference's. Gradients are those of the
    deepest stream times a fixed random cotangent, by their L2 norm. Contributions are the root mean squares of what
    each block changes, x_k - x_(k-1), so there is one fewer; those of the two sublayers are known where the stream
    between them was observed.
    """
    names = [name for name in expected.values if not name.startswith(BETWEEN)]
    stream = [None if observed is None else observed.values.get(name) for name in names]
    wanted = [expected.values[name] for name in names]
    between = {
        depth: (None if observed is None else observed.values.get(name), expected.values[name])
        for depth in range(1, len(names))
        if (name := f"{BETWEEN} {depth}") in expected.values
    }
    norms = [_rms(value) for value in stream]
    reference = [_rms(value) or 0.0 for value in wanted]
    measured = names if expected.gradients else []
    gradients = [None if observed is None else _norm(observed.gradients.get(name)) for name in measured]
    reference_gradients = [_norm(expected.gradients.get(name)) or 0.0 for name in measured]
    return {
        "label": label,
        "depths": list(range(len(reference))),
        "norms": norms,
        "reference": reference,
        "gradients": gradients,
        "reference_gradients": reference_gradients,
        "contributions": _contributions(stream),
        "reference_contributions": [change or 0.0 for change in _contributions(wanted)],
        "sublayers": _sublayers(stream, wanted, between) if between else [],
        "exponent": _exponent(norms),
        "reference_exponent": _exponent(reference),
        "sentence": _sentence(norms, reference),
        "gradient_sentence": _gradient_sentence(gradients, reference_gradients),
    }


def growth(norms: Sequence[float]) -> float:
    """The least-squares slope of log(norm) against log(depth) over depths 1 .. n; the entry at depth 0 is left out."""
    points = [(math.log(depth), math.log(norm)) for depth, norm in enumerate(norms) if depth]
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def _contributions(stream: Sequence[Any]) -> list[float | None]:
    return [_change(before, after) for before, after in pairwise(stream)]


def _sublayers(
    stream: Sequence[Any], wanted: Sequence[Any], between: dict[int, tuple[Any, Any]]
) -> list[dict[str, Any]]:
    """What attention adds is what is between the sublayers less what came in; the feed-forward adds the rest."""
    attention = [_change(stream[depth - 1], own) for depth, (own, _) in between.items()]
    feed_forward = [_change(own, stream[depth]) for depth, (own, _) in between.items()]
    pairs = [
        (_change(wanted[depth - 1], middle) or 0.0, _change(middle, wanted[depth]) or 0.0)
        for depth, (_, middle) in between.items()
    ]
    return [
        {"name": "attention", "norms": attention, "reference": [first for first, _ in pairs]},
        {"name": "feed-forward", "norms": feed_forward, "reference": [second for _, second in pairs]},
    ]


def _change(before: Any, after: Any) -> float | None:
    if not (_is_stream(before) and _is_stream(after) and before.shape == after.shape):
        return None
    return _rms(after - before)


def _exponent(norms: Sequence[float | None]) -> float | None:
    known = [norm for norm in norms if norm is not None and norm > 0]
    return growth(known) if len(known) == len(norms) else None


def _gradient_sentence(gradients: Sequence[float | None], reference: Sequence[float]) -> str:
    wanted, given = _from_end_to_start(reference), _from_end_to_start(gradients)
    if wanted is None:
        return "no gradient is measured"
    if given is None:
        return f"no gradient flows back to the first block; in the reference it arrives {_ratio(wanted)}"
    alike = abs(given - wanted) <= 1e-3 * wanted
    rest = ", as in the reference" if alike else f"; in the reference {_ratio(wanted)}"
    return f"the gradient arrives at the first block {_ratio(given)}{rest}"


def _from_end_to_start(gradients: Sequence[float | None]) -> float | None:
    """How many times as large a gradient arrives at the first block as it leaves the last."""
    return gradients[0] / gradients[-1] if gradients and gradients[0] and gradients[-1] else None


def _ratio(ratio: float) -> str:
    if 1 / _SAME < ratio < _SAME:
        return "about as large as when it leaves the last"
    if ratio > 1:
        return f"{_times(ratio)} times as large as when it leaves the last"
    return f"{_times(1 / ratio)} times smaller than when it leaves the last"


def _times(factor: float) -> str:
    """Two digits, written out as far as one can take them in."""
    return f"{float(f'{factor:.2g}'):.6g}"


def _norm(value: Any) -> float | None:
    rms = _rms(value)
    return None if rms is None else rms * value.numel() ** 0.5


def _rms(value: Any) -> float | None:
    if not _is_stream(value):
        return None
    norm = value.double().square().mean().sqrt().item()
    return norm if math.isfinite(norm) else None


def _is_stream(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel() > 0


def _sentence(norms: Sequence[float | None], reference: Sequence[float]) -> str:
    own = [norm for norm in norms if norm is not None]
    if len(own) < len(norms) or not all(norm > 0 for norm in (*own, *reference)):
        return f"no finite stream at every depth; the reference {_course(reference)}"
    course, wanted = _course(own), _course(reference)
    if max(abs(a / b - 1) for a, b in zip(own, reference, strict=True)) < 1e-3:
        return f"{course}, as the reference does: {_why(reference)}"
    return f"{course}; the reference {wanted}: {_why(reference)}"


def _course(norms: Sequence[float]) -> str:
    exponent = growth(norms)
    if abs(exponent) < _GROWS and max(norms[1:]) / min(norms[1:]) < 1 + _CLOSE:
        return f"stays at {norms[-1]:.2g} from depth 1 on"
    if abs(exponent) < _GROWS:
        return f"lies between {min(norms[1:]):.2g} and {max(norms[1:]):.2g} from depth 1 on"
    return f"{'grows' if exponent > 0 else 'shrinks'} like depth^{exponent:.1f}"


def _why(reference: Sequence[float]) -> str:
    if max(reference[1:]) / min(reference[1:]) < 1 + _CLOSE:
        return "a post-norm block ends in a norm"
    return "a pre-norm block only adds to the stream"
