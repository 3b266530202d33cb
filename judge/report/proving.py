"""Proofs while they are made: on a terminal a table of the problems in work, each with a bar and what comes now."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from judge.counted import counted
from judge.verify import Proof, Step

_BAR = 20


class Proving:
    """What is in work, for `rich.live.Live`."""

    def __init__(self, problems: int):
        self._problems = problems
        self._ready = 0
        self._steps: dict[str, Step] = {}

    def step(self, step: Step) -> None:
        """Take note of what a problem's proof is at."""
        self._steps[step.problem] = step

    def ready(self, proof: Proof) -> None:
        """Take note that a proof is ready."""
        self._ready += 1
        self._steps.pop(proof.problem, None)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table.grid(padding=(0, 1))
        for step in list(self._steps.values()):
            bar = ProgressBar(total=max(step.total, 1), completed=step.done, width=_BAR)
            table.add_row(Text(step.problem, "bold"), bar, f"{step.done}/{step.total}", Text(step.now, "dim"))
        yield table
        yield Text(f"{self._ready} of {counted(self._problems, 'problem')} ready", "dim")
