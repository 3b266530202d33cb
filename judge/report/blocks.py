"""The parts that screens are made of: one case, the lines that were printed, a line of the file with a caret."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, ConsoleRenderable, OverflowMethod, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from judge.models import CaseResult
from judge.report import clean
from judge.report.steps import split_findings

_BEFORE_CARET = 50


@dataclass(frozen=True, slots=True)
class Cut:
    """How many lines each of the long parts may take, and how many characters the line of what was called."""

    called: int
    findings: int
    traceback: int
    printed: int
    others: int
    remarks: int


@dataclass(frozen=True, slots=True)
class Marks:
    """The few characters that not every terminal has."""

    right: str
    wrong: str
    untried: str
    edge: str
    overflow: OverflowMethod

    @classmethod
    def for_terminal(cls, options: ConsoleOptions) -> Marks:
        return cls("+", "x", "-", "|", "crop") if options.ascii_only else cls("✓", "✗", "·", "│", "ellipsis")

    def one_line(self, text: Text) -> Text:
        """Keep a text on one line of the screen, however long it is."""
        text.no_wrap, text.overflow = True, self.overflow
        return text


@dataclass(frozen=True, slots=True)
class Inset:
    """Indents, wrapped lines too. (rich's Padding would fill each line with blanks.)"""

    content: ConsoleRenderable
    indent: int = 2

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        inner = options.update_width(max(1, options.max_width - self.indent))
        for line in console.render_lines(self.content, inner, pad=False):
            yield Segment(" " * self.indent)
            yield from line
            yield Segment.line()


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands with what each is for, each on one line however narrow the screen is: what is copied has to run."""

    commands: Sequence[tuple[str, str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.lines(options.max_width)

    def lines(self, width: int) -> Iterator[Text]:
        """The lines; what a command is for is left out where it would not fit."""
        for position, (command, why) in enumerate(self.commands):
            line = Text.assemble(("      " if position else "next: ", "dim"), (command, "bold"))
            if line.cell_len + len(why) + 3 <= width and why:
                line.append(f"   {why}", "dim")
            line.no_wrap, line.overflow = True, "ignore"
            yield line


def case_block(case: CaseResult, cut: Cut, marks: Marks, *, seconds: bool = False) -> Iterator[RenderableType]:
    """Show a case in full: what it asks for, what was called, what differs, where, and what was printed."""
    title = case_title(case, marks)
    if seconds and case.seconds is not None:
        title.append(f"  {case.seconds * 1000:.0f} ms", "dim")
    yield title
    if case.inputs is not None:
        called = clean.line(case.inputs)
        shown = called if len(called) <= cut.called else f"{called[: cut.called].rstrip()} ..."
        yield Inset(Text(f"called: {shown}", "dim"), 4)
    causes, consequences = (case.findings, ()) if seconds else split_findings(case.findings)
    for finding in causes[: cut.findings]:
        where = "" if finding.line is None else f" (line {finding.line} of your file)"
        said = Text.assemble((f"{clean.line(finding.subject)}: ", "bold"), clean.line(finding.message), where)
        yield Inset(said, 4)
    yield from more(len(causes) - cut.findings, "more like this", 4)
    if case.inside is not None:
        yield Inset(Text.assemble(("inside: ", "bold"), clean.line(case.inside)), 4)
    if consequences:
        yield Inset(Text("and the gradients that follow from it", "dim"), 4)
    frames = clean.lines(case.traceback)[-cut.traceback :]
    yield from (Inset(marks.one_line(Text(frame, "dim")), 6) for frame in frames)
    yield from printed_lines(case.printed, cut, marks, "it printed")


def case_title(case: CaseResult, marks: Marks) -> Text:
    """Show a case on one line: its name and the sentence that the student's code should fulfil."""
    status = "" if case.status in ("passed", "wrong answer") else f" ({case.status})"
    if case.after is not None:
        status = f" (not reached, it builds on {case.after})"
    mark = {"passed": (marks.right, "green"), "not reached": (marks.untried, "dim")}.get(
        case.status, (marks.wrong, "red")
    )
    return Text.assemble(mark, " ", (clean.line(case.name), "bold"), f"{status}: {clean.line(case.sentence)}")


def printed_lines(texts: tuple[str, ...], cut: Cut, marks: Marks, lead: str) -> Iterator[RenderableType]:
    """Show the last lines of what a submission wrote."""
    lines = clean.lines(texts)
    if not lines:
        return
    shown = lines[-cut.printed :]
    last = "the last line" if len(shown) == 1 else f"the last {len(shown)} lines"
    yield Inset(Text(f"{lead}:" if len(shown) == len(lines) else f"{lead} ({last}):"), 4)
    yield from (Inset(marks.one_line(Text(f"{marks.edge} {line}", "dim")), 4) for line in shown)


def pointed_line(text: str, column: int | None, marks: Marks) -> Iterator[RenderableType]:
    """Show a line of the file with a caret under its column, from 1; a long line is cut so that the place shows."""
    indentation = len(text) - len(text.lstrip())
    before = clean.line(text[indentation : column - 1]) if column else ""
    hidden = max(0, len(before) - _BEFORE_CARET)
    yield Inset(marks.one_line(Text(clean.line(text.strip())[hidden:])), 6)
    if column:
        yield Inset(Text(" " * cell_len(before[hidden:]) + "^", "bold red"), 6)


def more(count: int, what: str, indent: int) -> Iterator[RenderableType]:
    """Say how many were left out, if any."""
    if count > 0:
        yield Inset(Text(f"and {count} {what}", "dim"), indent)
