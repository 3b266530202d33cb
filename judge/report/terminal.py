"""The report on a screen: the verdict, then the root cause, then what it resembles, then what to type next.

A failure fits on one screen of 40 lines: where it would not, the long parts are cut, the least telling first.
Everything that comes from a submission is cleaned and never read as markup.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from judge.counted import counted
from judge.models import Report, Verdict
from judge.report import clean, curves, kills, likeness, words
from judge.report.blocks import Commands, Cut, Inset, Marks, case_block, case_title, more, pointed_line, printed_lines
from judge.report.steps import next_commands, root_cause

SCREEN = 39  # lines, at 80 columns
_STYLES: dict[Verdict, str] = {
    "accepted": "bold green",
    "passed these cases": "bold cyan",
    "invalid submission": "bold yellow",
    "judge error": "bold magenta",
}
_WHOLE = Cut(called=100_000, findings=1000, traceback=1000, printed=1000, others=1000, remarks=1000)
_CUTS = (
    Cut(called=200, findings=6, traceback=8, printed=20, others=10, remarks=4),
    Cut(called=130, findings=4, traceback=6, printed=20, others=5, remarks=3),
    Cut(called=130, findings=3, traceback=4, printed=20, others=2, remarks=1),
    Cut(called=60, findings=2, traceback=4, printed=10, others=2, remarks=1),
    Cut(called=60, findings=1, traceback=2, printed=4, others=1, remarks=1),
)


def render(report: Report, *, verbose: bool = False, following: str | None = None, options: str = "") -> RenderableType:
    """Show a report; ``verbose`` with every case in full, the rest as in ``next_commands``."""
    return Screen(report, verbose, Commands(tuple(next_commands(report, following, options))))


@dataclass(frozen=True, slots=True)
class Screen:
    """A report with what to type next."""

    report: Report
    verbose: bool
    commands: Commands

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        width = options.max_width
        overflow = sum((line.cell_len - 1) // width for line in self.commands.lines(width))  # the terminal wraps it
        for cut in (_WHOLE,) if self.verbose else _CUTS:
            page = Group(*self._lines(cut, options))
            if len(console.render_lines(page, options, pad=False)) + overflow <= SCREEN:
                break
        yield page

    def _lines(self, cut: Cut, options: ConsoleOptions) -> Iterator[RenderableType]:
        report, marks = self.report, Marks.for_terminal(options)
        yield _headline(report, marks, options.max_width)
        for section in (
            _message(report, cut, marks),
            _closed(report),
            _every_case(report, cut, marks) if self.verbose else _root_cause(report, cut, marks),
            _resemblance(report),
            () if self.verbose else _other_cases(report, cut, marks),
            _count(report),
            _kills(report, marks, self.verbose),
            _remarks(report, cut),
            _stream(report, options),
            (self.commands,) if self.commands.commands else (),
            _footer(report),
        ):
            lines = list(section)
            if lines:
                yield Text()
                yield from lines


def _headline(report: Report, marks: Marks, width: int) -> Text:
    head = f"{marks.right if report.exit_code == 0 else marks.wrong} {report.verdict}"
    facts = "" if report.verdict == "judge error" else f"  {report.points}/{counted(report.max_points, 'point')}"
    tail = f"{'  practice' if report.practice else facts}  {report.seconds:.1f} s"
    room = width - cell_len(head) - cell_len(report.problem) - cell_len(tail) - 4
    file = _end_of(clean.line(report.file), max(room, 12))
    return Text.assemble(
        (head, _STYLES.get(report.verdict, "bold red")), "  ", (report.problem, "bold"), f"  {file}{tail}"
    )


def _message(report: Report, cut: Cut, marks: Marks) -> Iterator[RenderableType]:
    """What stood in the way of judging: the sentence, the line and a caret under it."""
    if report.verdict == "judge error":
        yield Text("this is a fault of the judge, not of your file; it does not count as an attempt")
    if report.message is not None:
        where = "" if report.line is None else f"line {report.line}: "
        yield Inset(Text.assemble((where, "bold"), clean.line(report.message)))
    if report.line_text is not None:
        yield from pointed_line(report.line_text, report.column, marks)
    if not report.failed and report.exit_code != 0:
        yield from printed_lines(report.printed, cut, marks, "while your file was imported it printed")


def _closed(report: Report) -> Iterator[RenderableType]:
    if report.verdict != "closed function used":
        return
    for use in report.closed[:6]:
        where = "" if use.line is None else f"line {use.line}: "
        yield Inset(Text.assemble((where, "bold"), f"uses {clean.line(use.name)}, which is closed in this problem"))
    yield from more(len(report.closed) - 6, "more of this kind", 2)


def _root_cause(report: Report, cut: Cut, marks: Marks) -> Iterator[RenderableType]:
    root = root_cause(report)
    if root is not None:
        yield from case_block(root, cut, marks)


def _every_case(report: Report, cut: Cut, marks: Marks) -> Iterator[RenderableType]:
    for case in report.cases:
        yield from case_block(case, cut, marks, seconds=True)
        yield from (Inset(_remark(remark), 4) for remark in case.remarks)


def _resemblance(report: Report) -> Iterator[RenderableType]:
    if report.diagnosis is None:
        return
    style = "bold yellow" if report.diagnosis.strength == "exactly" else "yellow"
    for lead, what, rest in likeness.sentences(report.diagnosis):
        yield Text.assemble(f"{lead} ", (what, style), f" {rest}" if rest else "")


def _other_cases(report: Report, cut: Cut, marks: Marks) -> Iterator[RenderableType]:
    root = root_cause(report)
    others = [case for case in report.failed if case is not root]
    if report.thoroughness is not None:
        yield from (marks.one_line(kills.refusal(case, marks)) for case in others[: cut.others])
    else:
        yield from (marks.one_line(case_title(case, marks)) for case in others[: cut.others])
    yield from more(len(others) - cut.others, "more (--verbose shows every case)", 2)


def _count(report: Report) -> Iterator[RenderableType]:
    if report.cases and report.thoroughness is None:
        yield Text(words.count(report))


def _kills(report: Report, marks: Marks, verbose: bool) -> Iterator[RenderableType]:
    """What a file of tests notices."""
    if report.thoroughness is None or not report.thoroughness.bugs:
        return
    yield from kills.by_behaviour(report.thoroughness, marks)
    yield from kills.gaps(report.thoroughness)
    if verbose:
        yield Text()
        yield from kills.matrix(report.thoroughness, marks)


def _remarks(report: Report, cut: Cut) -> Iterator[RenderableType]:
    yield from map(_remark, report.remarks[: cut.remarks])
    yield from more(len(report.remarks) - cut.remarks, "more (--verbose shows every remark)", 0)


def _remark(text: str) -> Text:
    return Text.assemble(("remark: ", "yellow"), clean.line(text))


def _stream(report: Report, options: ConsoleOptions) -> Iterator[RenderableType]:
    """The residual stream: as tables where all is well, as sentences beside a failure."""
    if not report.stream:
        return
    yield Text("residual stream, root mean square by depth", "bold")
    yield from (Inset(Text.assemble((f"{curve.label}: ", "bold"), curve.sentence)) for curve in report.stream)
    if report.exit_code != 0:
        return
    yield Text()
    beside = Table.grid(padding=(0, 3, 0, 0))
    tables = [curves.table(curve, ascii_only=options.ascii_only) for curve in report.stream]
    for row in range(0, len(tables), 2):
        beside.add_row(*tables[row : row + 2])
    yield beside


def _footer(report: Report) -> Iterator[RenderableType]:
    facts = [] if report.seed is None else [f"seed {report.seed}"]
    if report.environment is not None:
        facts.append(f"isolation: {report.environment.isolation}")
    if report.peak_mib is not None:
        facts.append(f"{report.peak_mib:.0f} MiB")
    if facts:
        yield Text(", ".join(facts), "dim")


def _end_of(path: str, width: int) -> str:
    """Keep the telling end of a path."""
    return path if cell_len(path) <= width else "..." + path[3 - width :]
