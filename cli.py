"""The command line: parses, calls, prints and exits. Everything else is judge/.

exit codes   0 accepted, or done      1 not accepted, or something is missing
             2 nothing could be judged      3 a fault of the judge      130 Ctrl-C, a closed terminal or a plain kill
"""

from __future__ import annotations

import gc
import os
import sys

from judge.processes import launch

gc.disable()  # a command is over before there is garbage worth a pass: a tenth of the time of `judge list`
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for them takes as long as bare Python
launch.early(sys.argv)  # torch begins to load while the rest of this file is imported

import contextlib
import functools
import io
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from judge import __version__
from judge.errors import Error, JudgeError, ProblemError, RecordError, UsageError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from judge.feedback import Feedback as FeedbackLevel
    from judge.models import Problem, Report, StreamReport
    from judge.processes.supervision import Engine
    from judge.progress import Standing
    from judge.verify import Proof, Step
    from judge.watch import Watch


class Isolation(str, Enum):
    """How workers are kept apart."""

    auto = "auto"
    process = "process"


class Level(str, Enum):
    """How much a submission is locked in; docs/security.md says what each means."""

    kernel = "kernel"
    process = "process"


class Feedback(str, Enum):
    """How much of a report is shown."""

    full = "full"
    hint = "hint"
    verdict = "verdict"


class Commands(TyperGroup):
    """The place where errors become one line on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:  # typer's own Context class has moved between its versions
        try:
            return super().invoke(ctx)
        except Error as error:
            _warn(str(error))
            raise typer.Exit(3 if isinstance(error, (JudgeError, ProblemError)) else 2) from error
        except KeyboardInterrupt:
            raise typer.Exit(launch.INTERRUPTED) from None
        finally:
            launch.close()

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().main(*args, **kwargs)
        except Exception:  # a bug of ours; Python's own exit code for it, 1, would say "not accepted"
            import traceback

            traceback.print_exc()
            sys.exit(3)
        except SystemExit as left:
            if args or "args" in kwargs:  # called from Python, not by the process's own command line
                raise
            _end(left.code if isinstance(left.code, int) else 0 if left.code is None else 1)


def _as_id(text: str) -> str:
    """Take a problem's name as it is spelled in a module or a title, too."""
    return text.strip().lower().replace("_", "-")


app = typer.Typer(cls=Commands, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

Id = Annotated[str, typer.Argument(metavar="ID", parser=_as_id, help="A problem, as judge list names it.")]
Ids = Annotated[list[str] | None, typer.Argument(metavar="ID", parser=_as_id, help="Every problem if none.")]
File = Annotated[Path | None, typer.Argument(metavar="FILE", help="submissions/ID.py if none.")]
Force = Annotated[bool, typer.Option("--force", help="Write it anew; your file is kept as ID.1.py.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write the report as JSON.")]
NoRecord = Annotated[bool, typer.Option("--no-record", help="Don't remember the attempt.")]
Seed = Annotated[int | None, typer.Option(min=0, help="Draw the same inputs again: practice.", show_default=False)]
Cases = Annotated[list[str] | None, typer.Option(metavar="NAME", help="This case only: practice.", show_default=False)]
Save = Annotated[Path | None, typer.Option(metavar="FILE.py", help="Write the case as a script.", show_default=False)]
How = Annotated[Isolation, typer.Option(help="How workers are kept apart.")]
Required = Annotated[Level | None, typer.Option(help="Refuse to judge with less.", show_default=False)]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE.html", help="Write a page too.", show_default=False)]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw it as .png or .svg.", show_default=False)
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show every case in full.")]
Shown = Annotated[Feedback, typer.Option(help="Show less: no diagnosis, or the verdict only.")]
Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files, or folders whose files are judged.")]
Workers = Annotated[int | None, typer.Option(min=1, help="How many at a time.  [default: one per processor]")]
Diagnose = Annotated[bool, typer.Option("--diagnose", help="Look for the bugs, too: slower.")]
Production = Annotated[bool, typer.Option("--production", help="Judge mutants like a student's file: slower.")]
Quick = Annotated[bool, typer.Option("--quick", help="Try each seeded bug on the cases that it names, and not on all.")]
ProofSeed = Annotated[int | None, typer.Option(min=0, help="Draw the inputs with it; else anew.", show_default=False)]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Prove again what has not changed, too.")]
Version = Annotated[bool, typer.Option("--version", help="Show the version.")]


@app.callback(invoke_without_command=True)
def home(context: typer.Context, version: Version = False) -> None:
    """Learn to build transformer blocks; judge alone says what to do next."""
    if version:
        _say(f"judge {__version__}")
    elif context.invoked_subcommand is None:
        from judge import catalog, progress, workspace
        from judge.report import pages

        problems, standings = catalog.load_problems(), _standings()
        following, folder = progress.next_problem(problems, standings), workspace.find(Path.cwd())
        started = bool(following and folder and workspace.existing_file(following.id, folder))
        _say(pages.home(problems, standings, following, started=started))


@app.command("list")
def list_() -> None:
    """List the problems and how far you are."""
    from judge import catalog, progress
    from judge.report import pages

    problems, standings = catalog.load_problems(), _standings()
    _leave(0, pages.listing(problems, standings, progress.next_problem(problems, standings)))


@app.command("next")
def next_() -> None:
    """Show the statement of the problem to do next."""
    from judge import catalog, progress
    from judge.report import pages

    following = progress.next_problem(catalog.load_problems(), _standings())
    _say("every problem is solved" if following is None else pages.statement(following))


@app.command()
def show(id: Id) -> None:
    """Show a problem's statement."""
    from judge import catalog
    from judge.report import pages

    _say(pages.statement(catalog.find_problem(id)))


@app.command()
def start(id: Id, force: Force = False) -> None:
    """Write a problem's stub to submissions/ID.py."""
    from judge import catalog, workspace

    problem, here = catalog.find_problem(id), Path.cwd()
    stub = (problem.folder / "stub.py").read_bytes()
    started = workspace.write_stub(problem.id, stub, here, force=force)
    if started.kept is not None:
        _say(f"your file is kept as {workspace.shown(started.kept, here)}")
    _say(f"{workspace.shown(started.path, here)} is yours to fill in; next: judge submit {problem.id}")


@app.command()
def submit(
    id: Id, file: File = None, as_json: AsJson = False, no_record: NoRecord = False, seed: Seed = None,
    case: Cases = None, save: Save = None, isolation: How = Isolation.auto, require_isolation: Required = None,
    verbose: Verbose = False, feedback: Shown = Feedback.full, html: Html = None,
) -> None:  # fmt: skip
    """Judge a file."""
    from judge import catalog, pipeline, workspace
    from judge import feedback as showing

    with launch.take(isolation.value, require_isolation) as engine:
        with _station() as station:
            problem = catalog.find_problem(id)
            level = showing.least(problem.feedback, feedback.value)
            if save is not None:
                if html is not None:
                    raise UsageError("--save writes a script instead of judging, so there is no page to write")
                _save(problem, engine, workspace.only(case or ()), seed, save, file)
                return
            path = workspace.submission_file(problem.id, file, Path.cwd())
            options = _typed(feedback, isolation, require_isolation, no_record=no_record, verbose=verbose, html=html)
            written = _writing(problem, options, as_json=as_json, verbose=verbose)
            keep_page = _page(problem, options, html)
            report = pipeline.submit(
                problem, path, engine, seed=seed, cases=case or (), gradients=bool(html), station=station
            )
        engine.release()
        if not no_record:
            _remember(showing.recorded(report, level))
        keep_page(showing.shown(report, level))
        _leave(report.exit_code, written(showing.shown(report, level)), engine.close)


@app.command()
def watch(
    id: Id, file: File = None, no_record: NoRecord = False, isolation: How = Isolation.auto,
    require_isolation: Required = None, verbose: Verbose = False, feedback: Shown = Feedback.full,
) -> None:  # fmt: skip
    """Judge a file at every save."""
    from judge import catalog, workspace
    from judge import feedback as showing
    from judge.watch import Watch

    gc.enable()  # this one takes its time
    how, here = (isolation.value, require_isolation), Path.cwd()
    with launch.take(*how) as engine:
        problem = catalog.find_problem(id)
        level = showing.least(problem.feedback, feedback.value)
        find = functools.partial(workspace.expected_file, problem.id, file, here)
        watching = Watch(problem, engine, functools.partial(launch.renew, *how), find)
        _follow(watching, problem, level, record=not no_record, verbose=verbose)


@app.command()
def stream(
    id: Id, file: File = None, as_json: AsJson = False, seed: Seed = None, isolation: How = Isolation.auto,
    plot: Plot = None,
) -> None:  # fmt: skip
    """Show the residual stream and its gradient by depth."""
    from judge import catalog, streams, workspace

    with launch.take(isolation.value) as engine, _station() as station:
        problem = catalog.find_problem(id)
        draw = _plot(plot)
        path = workspace.submission_file(problem.id, file, Path.cwd())
        report = streams.measure(problem, path, engine, seed=seed, station=station)
    draw(report)
    if as_json:
        _say(report.model_dump_json(indent=2))
        return
    from judge.report.stream import StreamPage

    _say(StreamPage(report))


@app.command()
def hint(id: Id) -> None:
    """Show the next hint, one step at a time."""
    from judge import catalog

    _say(_next_hint(catalog.find_problem(id)))


@app.command()
def status() -> None:
    """Show what you have tried."""
    from judge import catalog, progress, workspace
    from judge.report import pages

    record = progress.Progress(workspace.find(Path.cwd()), _warn)
    _say(pages.status(catalog.load_problems(), record.standings()))


@app.command()
def grade(
    id: Id, paths: Paths, as_json: AsJson = False, isolation: How = Isolation.auto, require_isolation: Required = None,
    workers: Workers = None, diagnose: Diagnose = False,
) -> None:  # fmt: skip
    """Judge many files, or folders of files; nothing is recorded."""
    import time
    from collections import Counter

    from judge import batch, catalog, workspace
    from judge.report import grades

    gc.enable()  # this one takes its time
    problem, files, started = catalog.find_problem(id), workspace.python_files(paths), time.monotonic()
    verdicts: Counter[str] = Counter()
    with launch.take(isolation.value, require_isolation) as engine:
        for report in batch.judge_all(problem, files, engine, workers=workers, diagnose=diagnose):
            verdicts[report.verdict] += 1
            _say_now(grades.row(report) if as_json else grades.line(report))
    if not as_json:
        _say_now(grades.total(verdicts, time.monotonic() - started))
    raise typer.Exit(3 if verdicts["judge error"] else 0)


@app.command()
def verify(
    ids: Ids = None, isolation: How = Isolation.auto, production: Production = False, seed: ProofSeed = None,
    no_cache: NoCache = False, quick: Quick = False,
) -> None:  # fmt: skip
    """Prove problems: right answers pass, every seeded bug fails."""
    from judge import catalog, proof_cache
    from judge import verify as proving
    from judge.report import proof

    gc.enable()  # this one takes its time
    chosen = [catalog.find_problem(id).id for id in ids] if ids else catalog.problem_ids()
    problems = {id: catalog.load_problem(id) for id in chosen}
    cached = not (no_cache or production or quick or seed is not None)
    proofs = [known for problem in problems.values() if cached and (known := proof_cache.recall(problem))]
    for one in proofs:
        _say_now(proof.render(one) if ids else proof.line(one))
        _keep_kills(problems[one.problem], one)
    missing = [problem for problem in problems.values() if problem.id not in {known.problem for known in proofs}]
    if missing:
        with launch.take(isolation.value) as engine, _proving(len(missing)) as (step, ready):
            for one in proving.verify(missing, engine, step, seed=seed, production=production, quick=quick):
                ready(one)
                _say_now(proof.render(one) if ids else proof.line(one))
                if not quick:
                    _keep_kills(problems[one.problem], one, anew=no_cache)
                if cached:
                    _keep(problems[one.problem], one)
                proofs.append(one)
    if len(proofs) > 1:
        _say_now(proof.total(proofs))
    raise typer.Exit(0 if all(one.ok for one in proofs) else 1)


@app.command()
def new(id: Id) -> None:
    """Begin a problem of your own: make its folder."""
    from judge import scaffold
    from judge.report import pages

    _say(pages.begun(id, scaffold.make(id), scaffold.STEPS))


@app.command()
def doctor() -> None:
    """Look for what is missing on this machine."""
    from judge import doctor as examination
    from judge.report import pages

    checks = examination.examine(Path.cwd())
    _say(pages.doctor(checks))
    raise typer.Exit(1 if any(check.needed and not check.fine for check in checks) else 0)


def _standings() -> dict[str, Standing]:
    """Read how far the student is; a record that can't be read costs a warning, not the command."""
    from judge import progress, workspace

    try:
        return progress.Progress(workspace.find(Path.cwd()), _warn).standings()
    except RecordError as error:
        _warn(str(error))
        return {}


def _follow(watching: Watch, problem: Problem, level: FeedbackLevel, *, record: bool, verbose: bool) -> None:
    """Show what happens at each save, and record each new verdict, until q is pressed."""
    from judge import keys
    from judge.feedback import recorded
    from judge.report.watch import HINT, Screen
    from judge.watch_events import Judged, Pressed

    with keys.reading(watching.press) as has_keys, contextlib.closing(watching.events()) as events:
        screen = Screen(problem, level, verbose=verbose, following=_following(problem), keys=has_keys)
        _say_now(screen.greeting())
        for event in events:
            if isinstance(event, Judged) and record and not event.again:
                _remember(recorded(event.report, level))
            _say_now(screen.page(_next_hint(problem, watched=True)) if event == Pressed(HINT) else screen.show(event))


def _following(problem: Problem) -> str | None:
    """Name the problem that `judge next` will show once this one is solved."""
    from judge import catalog, progress

    with contextlib.suppress(Error):  # another problem's folder is broken
        following = progress.next_problem(catalog.load_problems(), _standings(), problem.id)
        return following.id if following else None
    return None


def _typed(
    feedback: Feedback, isolation: Isolation, required: Level | None, *, no_record: bool, verbose: bool,
    html: Path | None,
) -> str:  # fmt: skip
    """Spell the options of a submit that the same command has when it is typed again."""
    import shlex

    typed = {
        "feedback": feedback.value if feedback is not Feedback.full else None,
        "isolation": isolation.value if isolation is not Isolation.auto else None,
        "require-isolation": required.value if required is not None else None,
        "html": shlex.quote(str(html)) if html is not None else None,
    }
    flags = ["--no-record"] * no_record + ["--verbose"] * verbose
    return " ".join([f"--{name} {value}" for name, value in typed.items() if value is not None] + flags)


def _writing(problem: Problem, options: str, *, as_json: bool, verbose: bool) -> Callable[[Report], RenderableType]:
    """Prepare the writing of a report; all that it imports and reads is there before torch is."""
    from judge.report import writer

    if not as_json:
        _console()
    following = None if as_json else _following(problem)
    render = writer("json" if as_json else "terminal")
    return lambda report: render(report, verbose=verbose, following=following, options=options)


def _page(problem: Problem, options: str, path: Path | None) -> Callable[[Report], None]:
    """Prepare the writing of the page, if one is wanted; raises UsageError where it could not be written."""
    if path is None:
        return lambda report: None
    from judge import workspace
    from judge.report import writer

    place, render, following = workspace.place(path, ".html"), writer("html"), _following(problem)

    def keep(report: Report) -> None:
        page = str(render(report, following=following, options=options))
        try:
            workspace.write_over(place, page.encode(errors="replace"))
        except UsageError as error:  # the disk is full: no reason to withhold the verdict
            _warn(str(error))
        else:
            _note(f"the page is in {path}")

    return keep


def _plot(path: Path | None) -> Callable[[StreamReport], None]:
    """Prepare the drawing of a picture, if one is wanted; raises UsageError where it could not be drawn or written."""
    if path is None:
        return lambda report: None
    from judge import workspace
    from judge.report import plots

    place = workspace.place(path, *plots.SUFFIXES)
    plots.need_matplotlib()

    def keep(report: StreamReport) -> None:
        workspace.write_over(place, plots.render(report, path.suffix.lower()))
        _note(f"the picture is in {path}")

    return keep


def _next_hint(problem: Problem, *, watched: bool = False) -> RenderableType:
    """Move on by one hint and show it; without a record it is always the first."""
    from judge import progress, workspace
    from judge.report import pages

    try:
        record = progress.Progress(workspace.find_or_make(Path.cwd()), _warn)
        stage, diagnosis = record.take_hint(problem.id, len(problem.hints)), record.last_diagnosis(problem.id)
    except Error as error:
        _warn(f"{error}; so every call gives the first hint")
        stage, diagnosis = 1, None
    return pages.hint(problem, stage, diagnosis, watched=watched)


def _remember(report: Report) -> None:
    """Record an attempt; a failure of ours is none, and a record that can't be written costs a warning only."""
    from judge import progress, workspace
    from judge.report import writer

    if report.verdict == "judge error":
        return
    try:
        record = progress.Progress(workspace.find_or_make(Path.cwd()), _warn)
        record.record(report, str(writer("json")(report)), report.source)
    except Error as error:
        _warn(f"this attempt is not remembered: {error}")


def _save(problem: Problem, engine: Engine, case: str, seed: int | None, path: Path, file: Path | None) -> None:
    """Write a case as a script instead of judging, and say how to run it beside the student's file."""
    import secrets
    import shlex

    from judge import pipeline, workspace

    if not problem.inputs_shown or problem.feedback == "verdict":
        raise UsageError(f"{problem.id} does not show its inputs, so there is nothing to save")
    seed = secrets.randbits(32) if seed is None else seed
    workspace.write_new(path, pipeline.case_script(problem, engine, case, seed))
    command = shlex.join(["python", str(path), str(workspace.expected_file(problem.id, file, Path.cwd()))])
    _say(f"{path} holds the inputs and calls of case {case}, drawn with seed {seed}; run it with: {command}")


def _keep(problem: Problem, proof: Proof) -> None:
    """Keep a proof for the next time; where that can't be done, it is made again."""
    from judge import proof_cache

    try:
        proof_cache.keep(problem, proof)
    except OSError as error:
        _warn(f"the proof of {problem.id} is not kept: {error}")


def _keep_kills(problem: Problem, proof: Proof, *, anew: bool = False) -> None:
    """Keep beside the problem which cases each mutant fails; without it a diagnosis takes longer."""
    from judge import kill_matrix

    if not proof.ok or problem.kind == "tests":
        return
    try:
        kill_matrix.keep(problem.folder, proof.kills, anew=anew)
    except OSError as error:
        _warn(f"what the mutants of {problem.id} fail is not kept, so diagnoses take longer: {error}")


@contextlib.contextmanager
def _proving(problems: int) -> Iterator[tuple[Callable[[Step], None], Callable[[Proof], None]]]:
    """Show on a terminal which proofs are in work."""
    if not sys.stderr.isatty() or not problems:
        yield lambda step: None, lambda proof: None
        return
    from rich.console import Console
    from rich.live import Live

    from judge.report.proving import Proving

    table = Proving(problems)
    with Live(table, console=Console(stderr=True), refresh_per_second=8, transient=True, redirect_stdout=False):
        yield table.step, table.ready


@contextlib.contextmanager
def _station() -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is going on."""
    if not sys.stderr.isatty():
        yield lambda station: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text("loading torch")) as spinner:
        yield lambda station: spinner.update(Text(station))


def _console() -> Console:
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    console.width = min(console.width, 100)  # longer lines are hard to read
    return console


def _say(output: RenderableType) -> None:
    """Print; text goes out as it is, anything else through rich."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a student's text may hold what this terminal can't show
    if not isinstance(output, str):
        console = _console()
        with console.capture() as written:  # printing by itself, rich ends the process where a reader has left
            console.print(output, crop=False)  # of a command that is too long, the terminal makes two lines
        output = written.get().removesuffix("\n")
    print(output)


def _say_now(output: RenderableType | None) -> None:
    """Print while the command goes on, if there is something to print."""
    if output is not None:
        _say(output)
        sys.stdout.flush()


def _warn(message: str) -> None:
    _note(f"judge: {message}")


def _note(message: str) -> None:
    """Say something beside the output, which may be read by a program."""
    from judge.report import clean

    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="replace")
    print(clean.line(message), file=sys.stderr)


def _leave(code: int, output: RenderableType, close: Callable[[], None] = launch.close) -> NoReturn:
    """Print and end the process at once; taking the interpreter down costs as much as starting it."""
    with contextlib.suppress(BrokenPipeError):  # whoever read it has seen enough
        _say(output)
        sys.stdout.flush()
    close()
    _end(code)


def _end(code: int) -> NoReturn:
    """End the process at once: threads that read and watch must not meet an interpreter that is being taken down."""
    try:
        with contextlib.suppress(BrokenPipeError):  # whoever read it has seen enough
            sys.stdout.flush()
    except OSError as error:
        _warn(f"the output can't be written: {error}")
        code = code or 3
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    app(prog_name="judge")
