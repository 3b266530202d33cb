"""The screens of the commands that judge nothing: where a student stands, the list, the hints, what is missing.

The list is plain text, because it must be there at once and rich takes as long as all the rest together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from judge.counted import counted
from judge.models import Diagnosis, Problem

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from judge.doctor import Check
    from judge.progress import Standing

_TITLE_WIDTH = 31
_TRACKS = {
    1: "Normalization",
    2: "Attention",
    3: "Transformer blocks",
    4: "Accounting and choices",
    5: "Tests as the answer",
}
_CLOSED_SHOWN = 3


def listing(problems: Sequence[Problem], standings: dict[str, Standing], following: Problem | None) -> str:
    """List every problem with its state, by track; the next one is pointed at."""
    width = max((len(problem.id) for problem in problems), default=0)
    rows: list[str] = []
    track = None
    for problem in problems:
        if problem.track != track:
            track = problem.track
            rows += (
                ["", f"{track}  {_TRACKS.get(track, 'more')}"] if rows else [f"{track}  {_TRACKS.get(track, 'more')}"]
            )
        rows.append(
            f"{'>' if problem is following else ' '} {_state(standings.get(problem.id))} {problem.id:{width}}  "
            f"{_short(problem.title):{_TITLE_WIDTH}}  {problem.difficulty:6}  {problem.points:3}"
        )
    return "\n".join((*rows, "", "[x] solved  [-] tried  > next: judge next shows it, judge show ID any other"))


def begun(problem_id: str, folder: Path, steps: Sequence[tuple[str, str]]) -> str:
    """Say what to write in a new problem's folder, in order."""
    width = max(len(name) for name, _ in steps)
    rows = [f"  {number}. {name:{width}}  {what}" for number, (name, what) in enumerate(steps, start=1)]
    return "\n".join(
        (
            f"{folder} is yours to fill in, in this order:",
            *rows,
            "",
            f"judge verify {problem_id}   says at any time what is missing; docs/adding-a-problem.md explains it all",
        )
    )


def home(
    problems: Sequence[Problem], standings: dict[str, Standing], following: Problem | None, *, started: bool
) -> str:
    """Say how far the student is and what to type next; ``started``: the next problem's file is there."""
    solved = [problem for problem in problems if _solved(standings, problem.id)]
    points, all_points = sum(problem.points for problem in solved), sum(problem.points for problem in problems)
    filled = 40 * points // max(all_points, 1)
    lines = [
        f"[{'#' * filled}{'.' * (40 - filled)}]  {points} of {counted(all_points, 'point')}",
        f"{len(solved)} of {counted(len(problems), 'problem')} solved",
        "",
    ]
    if following is None:
        return "\n".join((*lines, "every problem is solved", "", "judge list      all problems"))
    action = ("submit", "judge your file") if started else ("start", "write a stub to work on")
    commands = (("show", "read it"), action, ("hint", "a hint, if you are stuck"))
    width = len(following.id) + 13
    return "\n".join(
        (
            *lines,
            f"next: {following.title} ({following.difficulty}, {counted(following.points, 'point')})",
            *(f"  {f'judge {command} {following.id}':{width}}  {why}" for command, why in commands),
            f"  {'judge list':{width}}  all problems",
        )
    )


def status(problems: Sequence[Problem], standings: dict[str, Standing]) -> str:
    """Show what was tried: attempts, practice beside them, points, the last verdict and its time."""
    if not standings:
        return "nothing was tried yet; judge list shows the problems"
    titles = {problem.id: problem for problem in problems}
    width = max(len("problem"), *(len(name) for name in standings))
    rows = [f"     {'problem':{width}}  attempts  practice  points  last verdict"]
    order = [*titles, *(name for name in standings if name not in titles)]
    for name in order:
        standing = standings.get(name)
        if standing is not None:
            most = f"/{titles[name].points}" if name in titles else ""
            when = standing.last_time[:16].replace("T", " ")
            rows.append(
                f"{_state(standing)}  {name:{width}}  {standing.attempts:8}  {standing.practice:8}  "
                f"{f'{standing.points}{most}':>6}  {standing.last_verdict}, {when}"
            )
    solved = sum(standing.solved for standing in standings.values())
    return "\n".join((*rows, "", f"{solved} of {counted(len(titles), 'problem')} solved; times are UTC"))


def hint(problem: Problem, stage: int, diagnosis: Diagnosis | None, *, watched: bool = False) -> RenderableType:
    """Show the hint of a stage, from 1; after the last all of them, and where else to look.

    ``watched``: where a key gives the next one and a save is judged, no command is named.
    The last hint also says what the last attempt resembled, if it resembled something.
    """
    from rich.console import Group
    from rich.markdown import Markdown
    from rich.text import Text

    from judge.report import likeness
    from judge.report.blocks import Commands

    count = len(problem.hints)
    parts: list[RenderableType] = []
    for number in range(1, count + 1) if stage > count else (stage,):
        parts += [Text(f"hint {number} of {count}", "bold"), Markdown(problem.hints[number - 1]), Text()]
    if stage >= count and diagnosis is not None:
        claims = "; ".join(" ".join(filter(None, claim)) for claim in likeness.sentences(diagnosis))
        parts += [Text(f"in your last attempt, {claims}"), *(Text(like.idea) for like in diagnosis.mutants[:3]), Text()]
    if stage > count:
        parts.append(Text("these were all the hints", "dim"))
        following = f"judge show {problem.id}", "the contract and an example"
    elif stage == count:
        parts.append(Text("that was the last hint", "dim"))
        following = f"judge submit {problem.id}", "when it is mended"
    else:
        following = f"judge hint {problem.id}", "the next hint"
    return Group(*parts, Commands([] if watched else [following]))


def statement(problem: Problem) -> RenderableType:
    """Show a problem's statement, with what it gives and what to type next."""
    from rich.console import Group
    from rich.markdown import Markdown
    from rich.text import Text

    from judge.report.blocks import Commands

    facts = f"{problem.id}: unit {problem.unit}, {problem.difficulty}, {counted(problem.points, 'point')}"
    return Group(
        Markdown(problem.statement), Text(), Text(facts, "dim"), Text(closed_names(problem), "dim"), Text(),
        Commands([(f"judge start {problem.id}", "write a stub to work on")]),
    )  # fmt: skip


def closed_names(problem: Problem) -> str:
    """Name what a problem closes; a group has dozens of spellings, of which the first few tell what is meant."""
    shown, others = problem.closed[:_CLOSED_SHOWN], len(problem.closed) - _CLOSED_SHOWN
    if not shown:
        return "nothing is closed"
    return f"closed: {', '.join(shown)}" + (f" and {others} other names for the like" if others > 0 else "")


def doctor(checks: Sequence[Check]) -> str:
    """Show what was looked at, and under each that needs it, what to do."""
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        mark = "  " if check.fine else "! "
        lines.append(f"{mark}{check.name:{width}}  {check.state}")
        if check.remedy:
            lines.append(f"  {'':{width}}  {'do' if not check.fine else 'note'}: {check.remedy}")
    missing = sum(check.needed and not check.fine for check in checks)
    lacking = f"{missing} of the things that are needed {'is' if missing == 1 else 'are'} missing"
    verdict = lacking if missing else "everything that is needed is here"
    return "\n".join((*lines, "", verdict))


def _state(standing: Standing | None) -> str:
    if standing is None:
        return "[ ]"
    return "[x]" if standing.solved else "[-]"


def _solved(standings: dict[str, Standing], name: str) -> bool:
    return name in standings and standings[name].solved


def _short(title: str) -> str:
    return title if len(title) <= _TITLE_WIDTH else title[: _TITLE_WIDTH - 3] + "..."
