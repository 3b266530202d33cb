"""Where a wrong tensor is wrong, in words: on which axis and at which places, or everywhere by one factor.

Axes are named as the field lays them out: (batch, token, channel), (batch, head, token, channel).
"""

from __future__ import annotations

import math
from typing import Any

import torch

from judge.counted import counted

_NAMES = {
    2: (("row", "rows"), ("column", "columns")),
    3: (("batch row", "batch rows"), ("token", "tokens"), ("channel", "channels")),
    4: (("batch row", "batch rows"), ("head", "heads"), ("token", "tokens"), ("channel", "channels")),
}
_ALIKE = 1e-4  # how well one factor, or one offset, has to explain everything
_MOST = 4  # places of an axis that are listed one by one


def where(observed: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor, error: str = "") -> str:
    """Where two tensors of one shape differ, ``wrong`` at these entries: how many, and the first.

    ``error`` is about all of them, so it stands apart from the first one's values.
    """
    if expected.dim() == 0 or not bool(wrong.any()):
        wrong = observed != expected
    place = first(wrong)
    values = f"{short(observed[place].item())} instead of {short(expected[place].item())}"
    measured = f" ({error})" if error else ""
    if expected.dim() == 0:
        return f"is {values}{measured}"
    rows = wrong if expected.dim() == 1 else wrong.any(-1)
    kind = ("entry", "entries") if expected.dim() == 1 else ("row", "rows")
    count = f"{int(rows.sum())} of {counted(rows.numel(), *kind)}"
    return f"differs in {count}{measured}, first at {index(place)}: {values}"


def pattern(observed: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor) -> str:
    """How what is wrong hangs together, as "; only token 0"; empty where nothing fits."""
    found = None
    if expected.is_floating_point() and observed.is_floating_point():
        found = _factor(observed, expected) or _offset(observed, expected)
    found = found or _places(wrong)
    return f"; {found}" if found else ""


def axes(dimensions: int) -> tuple[str, ...]:
    """What the axes of a tensor are called, in the plural: the last two, and before them those that have a name."""
    return tuple(several for _, several in _NAMES.get(dimensions, _NAMES[2]))


def first(wrong: torch.Tensor) -> tuple[int, ...]:
    """The first place that is wrong."""
    return tuple(wrong.nonzero()[0].tolist()) if wrong.dim() else ()


def index(place: tuple[int, ...]) -> str:
    """A place as an index."""
    return f"[{', '.join(map(str, place))}]"


def short(value: Any) -> str:
    """A value in at most 60 characters."""
    text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def shapes(observed: tuple[int, ...], expected: tuple[int, ...]) -> str | None:
    """A phrase about two shapes that differ."""
    if sorted(observed) == sorted(expected):
        return "the same sizes in another order"
    if len(observed) != len(expected):
        more, less = (observed, expected) if len(observed) > len(expected) else (expected, observed)
        if tuple(size for size in more if size != 1) == tuple(size for size in less if size != 1):
            return "it has extra dimensions of size 1" if more is observed else "it lacks dimensions of size 1"
    if math.prod(observed) == math.prod(expected):
        return "the same number of entries, grouped differently"
    return None


def _factor(observed: torch.Tensor, expected: torch.Tensor) -> str | None:
    if expected.numel() < 2:
        return None
    size = torch.linalg.vector_norm(expected).item()
    factor = (torch.dot(observed.flatten(), expected.flatten()) / size**2).item() if size else 0.0
    rest = torch.linalg.vector_norm(observed - factor * expected).item()
    if not math.isfinite(factor) or not factor or abs(factor - 1) < 1e-3 or rest > _ALIKE * abs(factor) * size:
        return None
    return (
        "everything has the opposite sign"
        if abs(factor + 1) < _ALIKE
        else f"everything by the same factor {factor:.4g}"
    )


def _offset(observed: torch.Tensor, expected: torch.Tensor) -> str | None:
    difference = observed - expected
    if difference.numel() < 3:
        return None
    offset = difference.mean().item()
    if not offset or (difference - offset).abs().max().item() > _ALIKE * abs(offset):
        return None
    return f"everything by the same amount, {offset:.4g}"


def _places(wrong: torch.Tensor) -> str | None:
    """The axis on which the wrong entries keep to few places, if there is one."""
    names = _NAMES.get(wrong.dim())
    if names is None or int(wrong.any(-1).sum()) < 2:  # of a single row the first place says enough
        return None
    found = []
    for axis, name in enumerate(names):
        others = [other for other in range(wrong.dim()) if other != axis]
        places = wrong.byte().amax(dim=others).nonzero().flatten().tolist()
        if len(places) < wrong.shape[axis]:
            found.append((len(places) / wrong.shape[axis], f"only {_listed(places, name)}"))
    return min(found)[1] if found else None


def _listed(places: list[int], name: tuple[str, str]) -> str:
    one, several = name
    if len(places) == 1:
        return f"{one} {places[0]}"
    if len(places) == places[-1] - places[0] + 1:
        return f"{several} {places[0]} to {places[-1]}"
    return f"{several} {', '.join(map(str, places[:_MOST]))}" + (" ..." if len(places) > _MOST else "")
