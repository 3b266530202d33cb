"""The kill matrix of a file of tests as text: by behaviour, and in full, tests by bugs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from judge.models import Bug, CaseResult, Thoroughness
from judge.report import clean
from judge.report.blocks import Inset, Marks

_MOST_ROWS = 40


def refusal(case: CaseResult, marks: Marks) -> Text:
    """A test that is not valid on one line: its name and what it does."""
    subject = clean.line(case.findings[0].subject) if case.findings else case.status
    return Text.assemble((marks.wrong, "red"), " ", (clean.line(case.name), "bold"), f" {subject}")


def by_behaviour(found: Thoroughness, marks: Marks) -> Iterator[RenderableType]:
    """One line for each behaviour: how many of its bugs are noticed, and by which tests."""
    yield Text("bugs that your tests notice, by the behaviour they break", "bold")
    groups: dict[str, list[Bug]] = {}
    for bug in found.bugs:
        groups.setdefault(bug.behaviour, []).append(bug)
    width = max(map(len, groups))
    for behaviour, bugs in groups.items():
        catching = [clean.line(bug.caught_by) for bug in bugs if bug.caught_by is not None]
        caught = Counter(name.partition("[")[0] for name in catching)  # a parametrized test is one
        total, whole = sum(caught.values()), sum(caught.values()) == len(bugs)
        mark = (marks.right, "green") if whole else (marks.wrong, "red")
        tests = ", ".join(name if count == 1 else f"{name} ({count})" for name, count in caught.most_common())
        line = Text.assemble("  ", mark, f" {behaviour:{width}}  {total} of {len(bugs)}")
        yield marks.one_line(line.append(f"  {tests}", "dim") if tests else line)


def gaps(found: Thoroughness) -> Iterator[RenderableType]:
    """How runs ended in which no test failed, and what to vary to see the first bug that is missed."""
    remarks = Counter(bug.remark for bug in found.bugs if bug.remark is not None)
    for remark, count in remarks.items():
        yield Inset(Text(f"{count} bug{'s' if count > 1 else ''}: {clean.line(str(remark))}", "yellow"))
    if found.advice is not None:
        yield Text.assemble(("first gap: ", "bold"), found.advice)


def matrix(found: Thoroughness, marks: Marks) -> Iterator[RenderableType]:
    """Tests by bugs; a bug has one mark, at the first test of its run that fails on it."""
    rows = [clean.line(name)[:_MOST_ROWS] for name in found.tests]
    width = max((len(row) for row in rows), default=0)
    for row, name in zip(rows, found.tests, strict=True):
        yield marks.one_line(
            Text(f"  {row:{width}}  {''.join('#' if bug.caught_by == name else '.' for bug in found.bugs)}")
        )
    missed = "".join("?" if bug.caught_by is None else "." for bug in found.bugs)
    yield Text(f"  {'(no test)':{width}}  {missed}")
    yield Text()
    for bug in found.bugs:
        if bug.caught_by is not None:
            named = Text.assemble(
                (f"{bug.behaviour}: ", "bold"), f"one that {bug.what} ", (clean.line(bug.caught_by), "dim")
            )
            yield Inset(marks.one_line(named))
