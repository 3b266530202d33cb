"""The residual stream's own report: norm and gradient by depth, growth over several draws, in words and as bars."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from judge.models import Growth, StreamReport
from judge.report import clean, curves


class StreamPage:
    """What `judge stream` prints; fits into 80 columns."""

    def __init__(self, report: StreamReport):
        self.report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text.assemble((self.report.problem, "bold"), f"  {clean.line(self.report.file)}")
        for curve, growth in zip(self.report.curves, self.report.growth, strict=True):
            yield Text()
            yield Text(curve.label, "bold")
            yield Text()
            beside = Table.grid(padding=(0, 3, 0, 0))
            norm = curves.table(curve, ascii_only=options.ascii_only, title="root mean square of the stream")
            gradient = curves.table(
                curve.gradient_curve(), ascii_only=options.ascii_only, title="norm of the gradient there"
            )
            beside.add_row(norm, gradient)
            yield beside
            yield from (Text(f"  {line}") for line in _words(growth))
            yield Text(f"  {curve.sentence}")
            yield Text(f"  {curve.gradient_sentence}")
        yield Text()
        yield Text(f"seed {self.report.seed}; curves of the first of several draws", "dim")


def _words(growth: Growth) -> Iterator[str]:
    for who, found in (("yours", growth.own), ("the reference", growth.reference)):
        if found is not None:
            low, high = (f"{value + 0.0:.2f}" for value in found)
            yield f"{who}: norm ~ depth^{low}" + (f" to depth^{high}" if high != low else "") + " over the draws"
