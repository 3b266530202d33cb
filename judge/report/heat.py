"""The map of where a tensor is wrong as a figure for a page: where each cell lies, and how hot it is."""

from __future__ import annotations

from dataclasses import dataclass

from judge.counted import counted
from judge.models import HeatMap
from judge.report.lines import Tick

_SIDE = 16
_LEFT, _TOP, _BOTTOM = 40, 4, 34
_LEAST_WIDTH = 320
_STEPS = (-3.0, -2.0, -1.0, 0.0)  # log10 of the errors at which a cell becomes hotter


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell, and its level: 0 is right, 5 is wrong by more than the values themselves."""

    x: int
    y: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class HeatFigure:
    """The figure of one map; ``legend`` gives a sentence for each level that occurs."""

    title: str
    description: str
    cells: tuple[Cell, ...]
    legend: tuple[tuple[int, str], ...]
    row_ticks: tuple[Tick, ...]
    column_ticks: tuple[Tick, ...]
    rows: str
    columns: str
    width: int
    height: int
    side: int = _SIDE
    left: int = _LEFT
    bottom: int = 0


def figure(heat: HeatMap, subject: str) -> HeatFigure:
    """Lay out the map of a finding's ``subject``."""
    cells = tuple(
        Cell(_LEFT + _SIDE * column, _TOP + _SIDE * row, _level(value, heat.tolerance), _text(heat, row, column))
        for row, values in enumerate(heat.values)
        for column, value in enumerate(values)
    )
    rows, columns = len(heat.values), len(heat.values[0])
    wrong = sum(cell.level > 0 for cell in cells)
    over = f", each cell the largest over all {' and '.join(heat.others)}" if heat.others else ""
    return HeatFigure(
        title=f"error of {subject}, {heat.rows} by {heat.columns}{over}",
        description=f"{wrong} of {counted(len(cells), 'cell')} {'is' if wrong == 1 else 'are'} wrong; "
        f"the largest relative error is {_error(max(map(max, heat.values)))}",
        cells=cells,
        legend=tuple((level, _meaning(level, heat.tolerance)) for level in sorted({cell.level for cell in cells})),
        row_ticks=tuple(Tick(_TOP + _SIDE * (row + 0.5), str(row * heat.row_step)) for row in _marked(rows)),
        column_ticks=tuple(
            Tick(_LEFT + _SIDE * (column + 0.5), str(column * heat.column_step)) for column in _marked(columns)
        ),
        rows=heat.rows,
        columns=heat.columns,
        width=max(_LEAST_WIDTH, _LEFT + _SIDE * columns + 4),
        height=_TOP + _SIDE * rows + _BOTTOM,
        bottom=_TOP + _SIDE * rows,
    )


def _level(value: float, tolerance: float) -> int:
    return 0 if value <= tolerance else 1 + sum(value > step for step in _STEPS)


def _meaning(level: int, tolerance: float) -> str:
    if level == 0:
        return f"right, to {10**tolerance:.2g}"
    if level > len(_STEPS):
        return "more than 1, or not finite"
    least = tolerance if level == 1 else max(tolerance, _STEPS[level - 2])
    return f"{10**least:.2g} to {10 ** _STEPS[level - 1]:g}"


def _text(heat: HeatMap, row: int, column: int) -> str:
    return (
        f"{_places(heat.rows, row, heat.row_step)}, {_places(heat.columns, column, heat.column_step)}: "
        f"{_error(heat.values[row][column])}"
    )


def _places(names: str, place: int, step: int) -> str:
    first = place * step
    return f"{names} {first} to {first + step - 1}" if step > 1 else f"{names.removesuffix('s')} {first}"


def _error(value: float) -> str:
    if value >= 6:
        return "a million or more, or not finite"
    return "none" if value <= -16 else f"{10**value:.2g}"


def _marked(count: int) -> range:
    return range(0, count, 1 if count <= 8 else 2)
