"""The residual stream as one picture for slides and notes: PNG or SVG, the same bytes for the same numbers.

One column for each curve (pre-norm beside post-norm), one row each for the norm of the stream, what each sublayer
adds, and the gradient. Yours and the reference differ in colour, line and mark, so no colour is needed to tell them
apart.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from judge.errors import UsageError
from judge.models import StreamCurve, StreamReport
from judge.report.words import growth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".png", ".svg")
_STREAM, _GRADIENT = "root mean square of the stream", "norm of the gradient"
_YOURS = {"color": "#0072b2", "marker": "o", "markersize": 3, "linestyle": "-", "label": "yours", "zorder": 3}
_REFERENCE = {
    "color": "#d55e00", "marker": "s", "markersize": 5, "markerfacecolor": "none", "linestyle": "--",
    "label": "reference", "zorder": 2,
}  # fmt: skip


def need_matplotlib() -> None:
    """Raise UsageError if there is nothing to draw with."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as exc:
        raise UsageError("pictures are drawn with matplotlib, which is missing; pip install 'judge[plots]'") from exc


def render(report: StreamReport, suffix: str) -> bytes:
    """Draw the curves of a report; ``suffix`` is one of ``SUFFIXES``. No display is needed."""
    need_matplotlib()
    import matplotlib.style
    from matplotlib.figure import Figure

    settings = {"svg.hashsalt": "judge", "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}
    with matplotlib.style.context(["default", settings]):
        count = len(report.curves)
        added = dict.fromkeys(title for curve in report.curves for title in curve.addition_curves())
        rows = (_STREAM, *added, _GRADIENT)
        figure = Figure(figsize=(4.2 * count + 0.6, 3 * len(rows) + 0.2), layout="constrained")
        axes = figure.subplots(len(rows), count, squeeze=False, sharey="row")
        for column, curve in enumerate(report.curves):
            _column({name: axes[row][column] for row, name in enumerate(rows)}, curve)
        for row, name in enumerate(rows):
            axes[row][0].set_ylabel(name)
        axes[0][0].legend()
        figure.suptitle(f"{report.problem}: the residual stream by depth", parse_math=False)
        figure.supxlabel(_caption(report), fontsize=8, parse_math=False)
        written = io.BytesIO()
        kind = suffix.removeprefix(".")
        figure.savefig(written, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return written.getvalue()


def _column(axes: dict[str, Axes], curve: StreamCurve) -> None:
    """One curve from top to bottom. A power of depth is a straight line where both axes are logarithmic."""
    axes[_STREAM].set_title(curve.label, parse_math=False)
    parts = {_STREAM: curve, **curve.addition_curves(), _GRADIENT: curve.gradient_curve()}
    for name, part in parts.items():
        place = axes[name]
        first = 0 if name == _GRADIENT else next((i for i, depth in enumerate(part.depths) if depth), 0)
        depths = part.depths[first : len(part.reference)]
        place.plot(depths, _positive(part.reference[first:]), **_REFERENCE)  # type: ignore[arg-type]
        place.plot(depths, _positive(part.norms[first:]), **_YOURS)  # type: ignore[arg-type]
        place.set_yscale("log")
        place.set_xlabel("depth")
        if name != _GRADIENT:
            ticks = [depth for depth in depths if not depth & (depth - 1)]
            place.set_xscale("log", base=2)
            place.set_xticks(ticks, [str(depth) for depth in ticks])


def _positive(norms: Sequence[float | None]) -> list[float]:
    """What a logarithmic axis can show; the rest is a gap."""
    return [norm if norm is not None and math.isfinite(norm) and norm > 0 else math.nan for norm in norms]


def _caption(report: StreamReport) -> str:
    said = [f"{found.label}, {line}" for found in report.growth for line in growth(found)]
    return "\n".join((*said, f"least-squares exponents over several draws; curves of the first, seed {report.seed}"))
