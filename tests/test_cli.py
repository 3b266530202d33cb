"""The commands: what they print, where, and with which exit code. The judging itself is faked here."""

import contextlib
import json
import re
import sqlite3
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import typer
from rich.console import Console
from sample_reports import SAMPLES, case, report

import cli
import judge
from judge import proof_cache, streams  # noqa: F401  streams is loaded before its neighbours are faked
from judge import verify as proving
from judge.errors import JudgeError, ProblemError, UsageError
from judge.models import Growth, Problem, StreamReport
from judge.processes import launch, supervision
from judge.progress import Progress
from judge.report import pages
from judge.verify import Proof


def problem(folder: Path, name: str, *prerequisites: str) -> Problem:
    return Problem(
        id=name, folder=folder, title=f"The {name}", track=1, unit="3.3", difficulty="easy", entry_points=(),
        prerequisites=prerequisites, closed=("torch.layer_norm",),
        statement=f"# The {name}\n\nWrite **it**.\n", hints=("look *close*", "at the root", "put eps under it"),
    )  # fmt: skip


class FakeEngine:
    """Remembers how it was used."""

    def __init__(self, isolation: str = "auto"):
        self.isolation, self.open = isolation, False

    def __enter__(self) -> "FakeEngine":
        self.open = True
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def release(self) -> None:
        self.close()

    def close(self) -> None:
        self.open = False


class Judge:
    """Runs commands in a folder of their own; ``report`` is what every submit gives, ``asked`` how it was asked for."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        self.proven: list[tuple[str, int | None]] = []
        self.kept: list[tuple[Path, dict[str, list[str]], bool]] = []
        self.folder, self.report, self.asked, self._capsys = folder, SAMPLES["wrong_answer_with_diagnosis"], {}, capsys

    def __call__(self, *arguments: object) -> SimpleNamespace:
        with pytest.raises(SystemExit) as left:
            cli.app(args=[str(argument) for argument in arguments], prog_name="judge")
        out, err = self._capsys.readouterr()
        return SimpleNamespace(code=left.value.code, out=out, err=err)

    def submit(self, problem: Problem, path: Path, engine: FakeEngine, **how: object):
        assert engine.open
        self.asked = {"path": path, "engine": engine, **how}
        how["station"]("running your code")
        if isinstance(self.report, BaseException):
            raise self.report
        return self.report

    def attempts(self) -> list[tuple]:
        with contextlib.closing(sqlite3.connect(self.folder / "submissions" / "attempts.db")) as database:
            return database.execute("SELECT problem, verdict, practice, file FROM attempts").fetchall()


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    run = Judge(tmp_path, capsys)
    problems = [problem(tmp_path, "layer-norm"), problem(tmp_path, "rms-norm", "layer-norm")]
    (tmp_path / "stub.py").write_text("def layer_norm_forward(x): ...\n")
    (tmp_path / "answer.py").write_text("x = 1\n")

    def find_problem(text: str) -> Problem:
        found = [one for one in problems if one.id == text]
        if not found:
            raise UsageError(f"there is no problem {text!r}; did you mean layer-norm?")
        return found[0]

    def case_script(problem: Problem, engine: FakeEngine, case: str, seed: int) -> str:
        return f"# {problem.id} {case} {seed} {engine.open}\n"

    kept: dict[str, Proof] = {}

    def verify(problems, engine, progress, *, seed, production, quick):
        for one in problems:
            run.proven.append((one.id, seed))
            complaints = ["the reference is wrong"] if one.id == "rms-norm" else []
            yield Proof(one.id, kills={"mean": ["plain"]}, complaints=complaints)

    def keep_kills(folder: Path, kills: dict[str, list[str]], *, anew: bool) -> None:
        run.kept.append((folder, kills, anew))
        if run.report is OSError:
            raise OSError("the disk is full")

    fakes = {
        "kill_matrix": {"keep": keep_kills},
        "catalog": {
            "PROBLEMS": tmp_path, "load_problems": lambda: problems, "find_problem": find_problem,
            "problem_ids": lambda: [one.id for one in problems], "load_problem": find_problem,
        },
        "pipeline": {"submit": run.submit, "case_script": case_script},
    }  # fmt: skip
    for name, content in fakes.items():
        module = ModuleType(f"judge.{name}")
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, f"judge.{name}", module)
        parent, _, last = f"judge.{name}".rpartition(".")
        monkeypatch.setattr(import_module(parent), last, module, raising=False)
    monkeypatch.setattr(supervision, "Engine", FakeEngine)
    monkeypatch.setattr(proving, "verify", verify)
    monkeypatch.setattr(proof_cache, "recall", lambda problem: kept.get(problem.id))
    monkeypatch.setattr(
        proof_cache, "keep", lambda problem, proof: kept.update({problem.id: proof} if proof.ok else {})
    )

    def leave(code: int, output: object, close: Callable[[], None] = launch.close) -> None:
        cli._say(output)
        close()
        raise typer.Exit(code)

    monkeypatch.setattr(cli, "_leave", leave)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return run


def test_the_version_is_told(run):
    assert run("--version").out == f"judge {judge.__version__}\n"


def test_judge_alone_says_how_far_you_are_and_what_to_type(run):
    shown = run()
    assert shown.code == 0
    assert "0 of 20 points" in shown.out
    assert "judge start layer-norm" in shown.out
    run("start", "layer-norm")
    assert "judge submit layer-norm" in run().out
    run.report = report("accepted", (case("plain"),))
    run("submit", "layer-norm")
    assert "10 of 20 points" in run().out
    assert "judge start rms-norm" in run().out


def test_judge_alone_is_content_when_everything_is_solved(run):
    for name in ("layer-norm", "rms-norm"):
        run.report = report("accepted", problem=name)
        run("submit", name, "answer.py")
    assert "every problem is solved" in run().out


def test_the_list_marks_what_is_solved_and_what_was_tried(run):
    run("submit", "layer-norm", "answer.py")
    shown = run("list")
    assert re.search(r"^> \[-\] layer-norm +The layer-norm +easy +10$", shown.out, re.MULTILINE)
    assert re.search(r"^  \[ \] rms-norm ", shown.out, re.MULTILINE)
    assert shown.out.startswith("1  Normalization\n")
    run.report = report("accepted")
    run("submit", "layer-norm", "answer.py")
    assert "  [x] layer-norm" in run("list").out
    assert "> [ ] rms-norm" in run("list").out
    assert max(map(len, shown.out.splitlines())) <= 80


def test_next_shows_the_statement_of_what_comes_next(run):
    assert run("next").out == run("show", "layer-norm").out
    for name in ("layer-norm", "rms-norm"):
        run.report = report("accepted", problem=name)
        run("submit", name, "answer.py")
    assert run("next").out == "every problem is solved\n"


def test_a_statement_is_rendered_without_its_hints(run):
    shown = run("show", "layer-norm")
    assert "Write it." in shown.out
    assert "torch.layer_norm" in shown.out
    assert "look close" not in shown.out
    assert "\x1b" not in shown.out


def test_a_long_list_of_closed_names_is_cut(tmp_path):
    closed = tuple(f"torch.name{n}" for n in range(70))
    shown = pages.closed_names(problem(tmp_path, "layer-norm").model_copy(update={"closed": closed}))
    assert shown == "closed: torch.name0, torch.name1, torch.name2 and 67 other names for the like"


def test_an_unknown_problem_is_a_usage_error_on_one_line(run):
    for command in ("show", "start", "hint", "submit", "verify"):
        shown = run(command, "layer-nrom")
        assert (shown.code, shown.out) == (2, "")
        assert shown.err == "judge: there is no problem 'layer-nrom'; did you mean layer-norm?\n"


@pytest.mark.parametrize("name", ["layer_norm", "Layer-Norm", " LAYER_NORM"])
def test_a_problem_is_known_in_other_spellings(run, name):
    assert "The layer-norm" in run("show", name).out
    assert run("verify", name).code == 0


def test_start_writes_the_stub_and_never_loses_a_file(run):
    assert "submissions/layer-norm.py is yours" in run("start", "layer-norm").out.replace("\\", "/")
    path = run.folder / "submissions" / "layer-norm.py"
    path.write_text("mine")
    again = run("start", "layer-norm")
    assert again.code == 2
    assert "stays as it is" in again.err
    assert path.read_text() == "mine"
    forced = run("start", "layer-norm", "--force")
    assert "kept as submissions/layer-norm.1.py" in forced.out.replace("\\", "/")
    assert path.with_name("layer-norm.1.py").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("accepted_with_stream", 0),
        ("wrong_answer_with_diagnosis", 1),
        ("time_limit", 1),
        ("closed_function_used", 1),
        ("invalid_submission", 2),
    ],
)
def test_the_exit_code_is_the_reports(run, name, code):
    run.report = SAMPLES[name]
    shown = run("submit", "layer-norm", "answer.py")
    assert shown.code == code
    assert shown.out.splitlines()[0][2:].startswith(SAMPLES[name].verdict)
    assert shown.err == ""
    assert not run.asked["engine"].open


def test_a_submit_passes_on_what_it_was_told(run):
    run("submit", "layer-norm", "answer.py", "--seed", 5, "--case", "plain", "--case", "tiny", "--isolation", "process")
    assert run.asked["path"] == Path("answer.py")
    assert run.asked["engine"].isolation == "process"
    assert (run.asked["seed"], list(run.asked["cases"])) == (5, ["plain", "tiny"])
    run("submit", "layer-norm", "answer.py")
    assert run.asked["engine"].isolation == "auto"
    assert (run.asked["seed"], list(run.asked["cases"])) == (None, [])


def test_a_submit_without_a_file_says_how_to_begin(run):
    shown = run("submit", "layer-norm")
    assert shown.code == 2
    assert "judge start layer-norm" in shown.err


def test_json_is_the_report_alone(run):
    shown = run("submit", "layer-norm", "answer.py", "--json")
    assert json.loads(shown.out)["verdict"] == "wrong answer"
    assert shown.err == ""


def test_verbose_shows_every_case(run):
    assert "strided_input" not in run("submit", "layer-norm", "answer.py").out
    assert "strided_input" in run("submit", "layer-norm", "answer.py", "--verbose").out


def test_an_accepted_submission_is_led_to_the_next_problem(run):
    run.report = report("accepted", (case("plain"),))
    assert "judge show rms-norm" in run("submit", "layer-norm", "answer.py").out
    assert run("next").out.startswith(run("show", "rms-norm").out)


def test_attempts_are_remembered_and_practice_as_practice(run):
    run("submit", "layer-norm", "answer.py")
    run.report = report("passed these cases", (case("plain"),), practice=True)
    run("submit", "layer-norm", "answer.py", "--case", "plain")
    run("submit", "layer-norm", "answer.py", "--no-record")
    assert [(verdict, practice) for _, verdict, practice, _ in run.attempts()] == [
        ("wrong answer", 0),
        ("passed these cases", 1),
    ]


def test_without_a_record_no_folder_is_made(run):
    run("submit", "layer-norm", "answer.py", "--no-record")
    assert not (run.folder / "submissions").exists()


def test_a_fault_of_the_judge_is_no_attempt(run):
    run.report = report("judge error", message="the oracle worker has ended")
    shown = run("submit", "layer-norm", "answer.py")
    assert shown.code == 3
    assert "the oracle worker has ended" in shown.out
    assert not (run.folder / "submissions").exists()


def test_a_record_that_can_not_be_written_costs_a_warning_only(run):
    (run.folder / "submissions" / "attempts.db").mkdir(parents=True)
    shown = run("submit", "layer-norm", "answer.py")
    assert shown.code == 1
    assert "wrong answer" in shown.out
    assert "this attempt is not remembered" in shown.err
    for command, code in (("list", 0), ("hint layer-norm", 0), ("status", 2), ("doctor", 0)):
        shown = run(*command.split())
        assert shown.code == code, command
        assert "Traceback" not in shown.err


def test_a_damaged_record_is_set_aside_with_a_word(run):
    (run.folder / "submissions").mkdir()
    (run.folder / "submissions" / "attempts.db").write_bytes(b"no database" * 200)
    shown = run("submit", "layer-norm", "answer.py")
    assert shown.code == 1
    assert shown.err.count("was damaged") == 1
    assert len(run.attempts()) == 1


def test_a_case_is_saved_as_a_script(run):
    shown = run("submit", "layer-norm", "--case", "plain", "--seed", 7, "--save", "plain.py")
    said = "plain.py holds the inputs and calls of case plain, drawn with seed 7; run it with: python plain.py "
    assert (shown.code, shown.out) == (0, f"{said}submissions/layer-norm.py\n")
    assert (run.folder / "plain.py").read_text() == "# layer-norm plain 7 True\n"
    assert run("submit", "layer-norm", "--case", "plain", "--save", "plain.py").code == 2
    shown = run("submit", "layer-norm", "my answer.py", "--case", "plain", "--save", "my plain.py")
    assert shown.out.endswith("run it with: python 'my plain.py' 'my answer.py'\n")
    assert run("submit", "layer-norm", "--save", "other.py").code == 2
    assert run.asked == {}


def test_a_page_is_written_beside_the_report(run):
    (run.folder / "out.html").write_text("an older one")
    shown = run("submit", "layer-norm", "answer.py", "--html", "out.html")
    assert (shown.code, shown.err) == (1, "the page is in out.html\n")
    assert "wrong answer" in shown.out
    assert "--case tiny_inputs" in shown.out
    page = (run.folder / "out.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "adds eps outside the square root" in page
    assert run.asked["gradients"] is True
    run("submit", "layer-norm", "answer.py")
    assert run.asked["gradients"] is False
    shown = run("submit", "layer-norm", "answer.py", "--html", "out.html", "--json")
    assert shown.err == "the page is in out.html\n"
    assert json.loads(shown.out)["verdict"] == "wrong answer"


def test_the_command_to_type_again_keeps_the_options_that_were_given(run):
    run.report = SAMPLES["invalid_submission"]
    options = ("--feedback", "hint", "--isolation", "process", "--html", "my page.html", "--no-record", "--verbose")
    shown = run("submit", "layer-norm", "answer.py", *options)
    again = "judge submit layer-norm --feedback hint --isolation process --html 'my page.html' --no-record --verbose"
    assert again in shown.out.splitlines()[-1]
    assert "--feedback" in (run.folder / "my page.html").read_text(encoding="utf-8")
    assert run("submit", "layer-norm", "answer.py").out.endswith("judge submit layer-norm   when it is mended\n")


def test_a_required_level_that_is_never_reached_is_a_usage_error(run):
    shown = run("submit", "layer-norm", "answer.py", "--isolation", "process", "--require-isolation", "kernel")
    assert (shown.code, shown.out, run.asked) == (2, "", {})
    assert "--isolation process never reaches the level kernel" in shown.err


@pytest.mark.parametrize("name", ["accepted_with_stream", "invalid_submission", "time_limit", "closed_function_used"])
def test_a_page_is_written_whatever_the_verdict(run, name):
    run.report = SAMPLES[name]
    assert run("submit", "layer-norm", "answer.py", "--html", "out.html").code == SAMPLES[name].exit_code
    assert f"<title>{SAMPLES[name].verdict}: " in (run.folder / "out.html").read_text(encoding="utf-8")


def test_a_page_is_written_for_a_fault_of_the_judge_too(run):
    run.report = report("judge error", message="the oracle worker has ended")
    assert run("submit", "layer-norm", "answer.py", "--html", "out.html").code == 3
    assert "the oracle worker has ended" in (run.folder / "out.html").read_text(encoding="utf-8")


def test_a_page_shows_no_more_than_the_screen(run):
    run("submit", "layer-norm", "answer.py", "--feedback", "verdict", "--html", "out.html")
    page = (run.folder / "out.html").read_text(encoding="utf-8")
    assert "wrong answer" in page
    assert "differs" not in page
    assert "eps outside" not in page


@pytest.mark.parametrize(
    ("path", "said"), [(".", "is a folder"), ("out.py", "must end in .html"), ("no/out.html", "there is no folder no")]
)
def test_a_place_where_no_page_can_be_is_told_before_anything_is_judged(run, path, said):
    shown = run("submit", "layer-norm", "answer.py", "--html", path)
    assert (shown.code, shown.out, run.asked) == (2, "", {})
    assert said in shown.err


def test_a_page_that_can_not_be_written_any_more_costs_a_warning_only(run, monkeypatch):
    def write_over(path: Path, content: bytes) -> None:
        raise UsageError(f"{path.name}: the file can't be written (no space left on device)")

    monkeypatch.setattr("judge.workspace.write_over", write_over)
    shown = run("submit", "layer-norm", "answer.py", "--html", "out.html")
    assert shown.code == 1
    assert "wrong answer" in shown.out
    assert "no space left" in shown.err


def test_a_script_has_no_page(run):
    shown = run("submit", "layer-norm", "--case", "plain", "--save", "plain.py", "--html", "out.html")
    assert shown.code == 2
    assert "there is no page to write" in shown.err
    assert not (run.folder / "plain.py").exists()


def measured(*_: object, **__: object) -> StreamReport:
    return StreamReport(
        problem="layer-norm", title="The layer-norm", file="answer.py", seed=7, prediction=("one", "two"),
        curves=SAMPLES["accepted_with_stream"].stream,
        growth=tuple(Growth(label=label, own=None, reference=(0.5, 0.6)) for label in ("pre-norm", "post-norm")),
    )  # fmt: skip


@pytest.mark.parametrize(("name", "start"), [("out.png", b"\x89PNG"), ("OUT.SVG", b"<?xml")])
def test_a_stream_is_drawn_beside_what_is_printed(run, monkeypatch, name, start):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("judge.streams.measure", measured)
    shown = run("stream", "layer-norm", "answer.py", "--plot", name)
    assert (shown.code, shown.err) == (0, f"the picture is in {name}\n")
    assert "what each block adds" in shown.out
    assert (run.folder / name).read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("path", "said"), [("out.pdf", "must end in .png or .svg"), (".", "is a folder"), ("no/out.png", "no folder no")]
)
def test_a_picture_that_can_not_be_drawn_is_told_before_anything_is_measured(run, monkeypatch, path, said):
    monkeypatch.setattr("judge.streams.measure", lambda *_, **__: pytest.fail("it was measured"))
    shown = run("stream", "layer-norm", "answer.py", "--plot", path)
    assert (shown.code, shown.out) == (2, "")
    assert said in shown.err


def test_a_picture_without_matplotlib_says_what_to_install(run, monkeypatch):
    monkeypatch.setattr("judge.streams.measure", lambda *_, **__: pytest.fail("it was measured"))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    shown = run("stream", "layer-norm", "answer.py", "--plot", "out.png")
    assert shown.code == 2
    assert "pip install 'judge[plots]'" in shown.err


def test_hints_come_one_at_a_time_and_all_of_them_after_the_last(run):
    shown = [run("hint", "layer-norm").out for _ in range(4)]
    assert ["look close" in text for text in shown] == [True, False, False, True]
    assert ["put eps under it" in text for text in shown] == [False, False, True, True]
    assert shown[0].endswith("next: judge hint layer-norm   the next hint\n")
    assert shown[2].endswith("that was the last hint\nnext: judge submit layer-norm   when it is mended\n")
    assert shown[3].endswith("next: judge show layer-norm   the contract and an example\n")


def test_a_hint_while_a_file_is_watched_names_no_command(tmp_path):
    for stage in (1, 3, 4):
        console = Console(width=80)
        with console.capture() as written:
            console.print(pages.hint(problem(tmp_path, "layer-norm"), stage, None, watched=True))
        assert "judge " not in written.get()


def test_a_command_below_a_page_is_one_line_on_a_narrow_terminal(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    assert "next: judge start layer-norm" in run("show", "layer-norm").out.splitlines()
    assert "next: judge hint layer-norm" in run("hint", "layer-norm").out.splitlines()
    shown = run("submit", "layer-norm", "answer.py").out.splitlines()
    assert "      judge submit layer-norm 'my answers/layer norm.py' --seed 2894731 --case tiny_inputs" in shown


def test_the_last_hint_says_what_the_last_attempt_was_like(run):
    run("submit", "layer-norm", "answer.py")
    shown = [run("hint", "layer-norm").out for _ in range(3)]
    assert ["belongs under the root" in text for text in shown] == [False, False, True]


def test_the_status_counts_attempts(run):
    assert "nothing was tried yet" in run("status").out
    run("submit", "layer-norm", "answer.py")
    run.report = report("passed these cases", (case("plain"),), practice=True)
    run("submit", "layer-norm", "answer.py", "--case", "plain")
    run.report = SAMPLES["wrong_answer_with_diagnosis"]
    run("submit", "layer-norm", "answer.py")
    assert re.search(r"^\[-\]  layer-norm +2 +1 +0/10  wrong answer, 20", run("status").out, re.MULTILINE)


def test_verify_shows_a_line_for_each_proof_and_sums_up_what_to_mend(run):
    shown = run("verify")
    assert shown.code == 1
    lines = shown.out.splitlines()
    assert lines[0].split()[:2] == ["layer-norm", "proven"]
    assert lines[1].split()[:3] == ["rms-norm", "not", "proven"]
    complaint = "  to mend first: the reference is wrong"
    assert lines[2] == complaint
    assert lines[-3:] == ["1 of 2 problems proven, 2 mutants in all", "not proven: rms-norm", complaint]
    alone = run("verify", "layer-norm")
    assert alone.code == 0
    assert alone.out.startswith("layer-norm: proven\n")


def test_verify_proves_again_only_what_has_changed(run):
    run("verify")
    run.proven.clear()
    run("verify")
    assert run.proven == [("rms-norm", None)]  # what is not proven is tried again
    run.proven.clear()
    for anew in (["--no-cache"], ["--seed", "7"], ["--production"], ["--quick"]):
        run("verify", "layer-norm", *anew)
    assert run.proven == [("layer-norm", None), ("layer-norm", 7), ("layer-norm", None), ("layer-norm", None)]


@pytest.mark.parametrize(
    ("how", "anew"), [([], [False]), (["--no-cache"], [True]), (["--production"], [False]), (["--quick"], [])]
)
def test_what_mutants_fail_is_kept_after_a_whole_proof_without_complaints(run, how, anew):
    assert run("verify", *how).code == 1
    assert run.kept == [(run.folder, {"mean": ["plain"]}, one) for one in anew]


def test_what_mutants_fail_is_kept_after_a_proof_that_is_remembered_too(run):
    run("verify", "layer-norm")
    run.kept.clear()
    run("verify", "layer-norm")
    assert run.kept == [(run.folder, {"mean": ["plain"]}, False)]


def test_a_folder_that_cannot_be_written_costs_a_warning(run):
    run.report = OSError
    shown = run("verify", "layer-norm")
    assert shown.code == 0
    assert "of layer-norm fail is not kept, so diagnoses take longer: the disk is full" in shown.err


def test_doctor_finds_nothing_missing_here(run):
    shown = run("doctor")
    assert shown.code == 0, shown.out
    assert re.search(r"torch +\d+\.\d+", shown.out)
    assert "everything that is needed is here" in shown.out


def test_doctor_fails_where_something_is_missing(run, monkeypatch):
    from importlib import metadata

    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", version)
    shown = run("doctor")
    assert shown.code == 1
    assert "pip install torch" in shown.out


@pytest.mark.parametrize(
    ("error", "code"), [(UsageError("a"), 2), (ProblemError("a"), 3), (JudgeError("a"), 3), (KeyboardInterrupt(), 130)]
)
def test_an_error_is_one_line_and_its_exit_code(run, error, code):
    run.report = error
    shown = run("submit", "layer-norm", "answer.py")
    assert (shown.code, shown.out) == (code, "")
    assert shown.err == ("" if code == 130 else "judge: a\n")
    assert not run.asked["engine"].open


def test_a_bug_of_ours_never_looks_like_a_verdict(run):
    run.report = ZeroDivisionError("division by zero")
    shown = run("submit", "layer-norm", "answer.py")
    assert shown.code == 3
    assert "ZeroDivisionError" in shown.err


@pytest.mark.parametrize(
    "arguments", ["nonsense", "submit", "submit a --seed x", "submit a --isolation none", "--nonsense"]
)
def test_a_wrong_command_line_is_a_usage_error(run, arguments):
    shown = run(*arguments.split())
    assert (shown.code, shown.out) == (2, "")
    assert "Traceback" not in shown.err


def test_control_characters_in_an_error_stay_away_from_the_terminal(run):
    shown = run("submit", "layer-norm", "\x1b[31mno\x07.py")
    assert shown.code == 2
    assert shown.err.startswith("judge: no.py: there is no such file")


def test_the_engine_that_was_started_early_ends_with_a_wrong_command_line(run, monkeypatch):
    closed = []
    monkeypatch.setattr(launch, "close", lambda: closed.append(True))
    run("submit", "layer-norm", "--nonsense")
    assert closed


def test_a_newer_record_is_named_and_the_verdict_still_shown(run):
    run("submit", "layer-norm", "answer.py")
    with contextlib.closing(sqlite3.connect(run.folder / "submissions" / "attempts.db")) as database:
        database.execute("PRAGMA user_version = 9")
    shown = run("submit", "layer-norm", "answer.py")
    assert shown.code == 1
    assert "newer judge" in shown.err
    assert run("status").code == 2
    assert Progress(None, print).standings() == {}
