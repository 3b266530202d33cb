"""The residual stream by depth as a table with bars: the student's norm beside the reference's."""

from __future__ import annotations

import math

from rich.table import Table
from rich.text import Text

from judge.models import StreamCurve

WIDTH = 38
BAR_WIDTH = 12
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def table(curve: StreamCurve, *, ascii_only: bool, title: str | None = None) -> Table:
    """Draw one curve, ``WIDTH`` columns wide; bars are in proportion to the largest norm of the curve."""
    drawn = Table.grid(padding=(0, 1))
    drawn.title = Text(title or curve.label, style="" if title else "bold")
    drawn.title_justify = "left"
    for width, justify in ((5, "right"), (9, "right"), (BAR_WIDTH, "left"), (9, "right")):
        drawn.add_column(width=width, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    drawn.add_row(*(Text(head, style="dim") for head in ("depth", "yours", "", "reference")))
    largest = max(
        (norm for norm in (*curve.norms, *curve.reference) if norm is not None and math.isfinite(norm)), default=0
    )
    for depth, norm, expected in zip(curve.depths, curve.norms, curve.reference, strict=True):
        if depth & (depth - 1) and depth != curve.depths[-1]:  # growth shows best where depth doubles
            continue
        drawn.add_row(
            str(depth),
            number(norm),
            Text(bar(norm, largest, ascii_only=ascii_only), "cyan"),
            Text(number(expected), "dim"),
        )
    return drawn


def bar(norm: float | None, largest: float, *, ascii_only: bool) -> str:
    """Draw a number as a bar, in steps of an eighth of a column where the terminal has the characters."""
    if norm is None or not math.isfinite(norm) or norm <= 0 or largest <= 0:
        return ""
    share = min(norm / largest, 1.0)
    if ascii_only:
        return "#" * max(1, round(share * BAR_WIDTH))
    full, rest = divmod(max(1, round(share * BAR_WIDTH * 8)), 8)
    return "█" * full + _EIGHTHS[rest].strip()


def number(norm: float | None) -> str:
    """Write a norm in at most 9 characters."""
    if norm is None or not math.isfinite(norm):
        return "-"
    return f"{norm:#.3g}".rstrip(".")
