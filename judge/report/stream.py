"""The residual stream's own report: norm, gradient and contributions by depth, growth over several draws, in words."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from judge.models import Growth, StreamCurve, StreamReport
from judge.report import clean, curves
from judge.report.words import growth


class StreamPage:
    """What `judge stream` prints; fits into 80 columns."""

    def __init__(self, report: StreamReport):
        self.report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text.assemble((self.report.problem, "bold"), f"  {clean.line(self.report.file)}")
        for curve, found in zip(self.report.curves, self.report.growth, strict=True):
            yield Text()
            yield Text(curve.label, "bold")
            yield Text()
            yield _tables(curve, found, ascii_only=options.ascii_only)
        yield Text()
        yield Text("what to expect of fresh weights, gain 1 and bias 0", "bold")
        for about, law in zip(("activations", "gradients"), self.report.prediction, strict=True):
            yield Text.assemble((f"  {about}: ", "bold"), law)
        yield Text()
        yield Text(f"seed {self.report.seed}; curves of the first of several draws", "dim")


def _tables(curve: StreamCurve, found: Growth, *, ascii_only: bool) -> RenderableType:
    beside = Table.grid(padding=(0, 3, 0, 0))
    for _ in range(2):
        beside.add_column(width=curves.WIDTH)
    norm = curves.table(curve, ascii_only=ascii_only, title="root mean square of the stream")
    gradient = curves.table(curve.gradient_curve(), ascii_only=ascii_only, title="norm of the gradient there")
    adds = [curves.table(one, ascii_only=ascii_only, title=title) for title, one in curve.addition_curves().items()]
    words: list[RenderableType] = [Text("growth over all draws", "dim"), *map(Text, growth(found))]
    words += [Text(), Text(curve.sentence), Text(), Text(curve.gradient_sentence)]
    beside.add_row(norm, gradient)
    beside.add_row()
    if len(adds) == 1:
        beside.add_row(*adds, Group(*words))
        return beside
    beside.add_row(*adds)
    return Group(beside, Text(), *words)
