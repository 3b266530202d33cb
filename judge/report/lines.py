"""The residual stream by depth as line figures for a page: where each line, mark and tick lies in the picture.

norms, contributions      both axes logarithmic: a power of depth is a straight line
gradients                 depth linear, from 0; the norm logarithmic
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from judge.models import StreamCurve

WIDTH, HEIGHT = 320, 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 10, 10, 34
_MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis and what stands there."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """Whose it is, its unbroken pieces as an SVG's points, and its marks."""

    name: str
    pieces: tuple[str, ...]
    marks: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class LineFigure:
    """One figure; the reference's line comes first, so that yours lies on it."""

    title: str
    description: str
    depth_ticks: tuple[Tick, ...]
    ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM


def figures(curve: StreamCurve) -> Iterator[LineFigure]:
    """The figures of a curve: its norm, what each sublayer (or block) adds and, where it was measured, its gradient."""
    yield _figure("root mean square of the stream", curve.sentence, curve, logarithmic=True)
    for title, added in curve.addition_curves().items():
        yield _figure(title, "", added, logarithmic=True)
    if curve.reference_gradients:
        yield _figure("norm of the gradient", curve.gradient_sentence, curve.gradient_curve(), logarithmic=False)


def _figure(title: str, description: str, curve: StreamCurve, *, logarithmic: bool) -> LineFigure:
    shown = [place for place, depth in enumerate(curve.depths) if depth or not logarithmic]
    depths = [curve.depths[place] for place in shown]
    own, reference = ([norms[place] for place in shown] for norms in (curve.norms, curve.reference))
    low, high = _range([*own, *reference])
    across = _scale(depths[0], depths[-1], _LEFT, WIDTH - _RIGHT, logarithmic=logarithmic)
    up = _scale(low, high, HEIGHT - _BOTTOM, _TOP, logarithmic=True)
    return LineFigure(
        title=title,
        description=description,
        depth_ticks=tuple(
            Tick(across(depth), str(depth)) for depth in depths if _marked(depth, depths[-1], logarithmic)
        ),
        ticks=tuple(Tick(up(value), f"{value:g}") for value in _ticks(low, high)),
        lines=tuple(
            _line(name, [across(depth) for depth in depths], [up(norm) if _drawn(norm) else None for norm in norms])
            for name, norms in (("reference", reference), ("yours", own))
        ),
    )


def _line(name: str, across: Sequence[float], up: Sequence[float | None]) -> Line:
    pieces: list[list[str]] = [[]]
    marks = []
    for x, y in zip(across, up, strict=True):
        if y is None:
            pieces.append([])
        else:
            pieces[-1].append(f"{x:g},{y:g}")
            marks.append((x, y))
    return Line(name, tuple(" ".join(piece) for piece in pieces if len(piece) > 1), tuple(marks))


def _scale(low: float, high: float, start: float, end: float, *, logarithmic: bool) -> Callable[[float], float]:
    if logarithmic:
        low, high = math.log10(low), math.log10(high)
    per = (end - start) / (high - low) if high > low else 0.0
    return lambda value: round(start + per * ((math.log10(value) if logarithmic else value) - low), 1)


def _range(norms: Sequence[float | None]) -> tuple[float, float]:
    """What the axis shows: all that can be drawn and a little more, at least a factor of 4."""
    known = [norm for norm in norms if _drawn(norm)] or [1.0]
    low, high = min(known), max(known)
    room = max(1.15, math.sqrt(4.2 * low / high))
    return low / room, high * room


def _ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    ticks = [tick for tick in fine if low <= tick <= high]
    if len(ticks) > _MOST_TICKS:
        ticks = [tick for tick in ticks if f"{tick:e}".startswith("1")]
    return ticks[:: math.ceil(len(ticks) / _MOST_TICKS) or 1]


def _marked(depth: int, deepest: int, logarithmic: bool) -> bool:
    """Where the depth doubles, as in the tables, or at even distances; beside the deepest there is no room."""
    if not logarithmic:
        return depth % max(1, deepest // 4) == 0
    return depth == deepest or (depth <= 0.75 * deepest and not depth & (depth - 1))


def _drawn(norm: float | None) -> TypeGuard[float]:
    """Whether there is a place for it on a logarithmic axis."""
    return norm is not None and math.isfinite(norm) and norm > 1e-300
