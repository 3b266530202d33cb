"""How a report is written: one module per format, each with the same ``render``, and one line each in this table.

    render(report, *, verbose=..., following=..., options=...) -> something that rich or print can show

``verbose`` asks for every case in full, ``following`` is the id of the problem to do next, ``options`` are those to
type again. A writer returns what is to be shown and never prints. Modules are imported when they are asked for: rich
takes as long as all the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

WRITERS = {
    "terminal": "judge.report.terminal",
    "json": "judge.report.json",
    "html": "judge.report.html",
}


def writer(name: str) -> Callable[..., RenderableType]:
    """Give the ``render`` of a format."""
    render: Callable[..., RenderableType] = import_module(WRITERS[name]).render
    return render
