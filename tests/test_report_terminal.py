"""The report on a screen, compared with golden files and held to its promises."""

import io

import pytest
from golden_files import compare_with_golden
from rich.console import Console, RenderableType
from sample_reports import SAMPLES, SENTENCES, case, report

from judge.models import CaseResult, Finding, Report, StreamCurve
from judge.report import curves, terminal

FINDING = Finding(facet="value", subject="output", message="differs by 0.3")


def show(shown: RenderableType, *, encoding: str = "utf-8", colour: bool = False, width: int = 80) -> str:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    system = "standard" if colour else None
    screen = Console(file=file, width=width, force_terminal=colour, color_system=system, highlight=False, markup=False)
    screen.print(shown, crop=False)
    file.seek(0)
    return file.read()


def failing(**fields: object) -> Report:
    return report("wrong answer", (case("tiny_inputs", "wrong answer", **{"findings": (FINDING,), **fields}),))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_typical_report_is_written_as_its_golden_file(name):
    compare_with_golden(f"{name}.txt", show(terminal.render(SAMPLES[name], following="post-to-pre-conversion")))


def test_verbose_shows_every_case_in_full():
    shown = show(terminal.render(SAMPLES["wrong_answer_with_diagnosis"], verbose=True))
    compare_with_golden("wrong_answer_verbose.txt", shown)
    assert all(f"{name}: " in shown for name in SENTENCES)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("verbose", [False, True])
def test_no_line_is_longer_than_the_screen_is_wide(name, verbose):
    for width in (80, 60):
        shown = show(terminal.render(SAMPLES[name], verbose=verbose), width=width).splitlines()
        lines = [line for line in shown if "judge submit " not in line]  # what is copied stays whole
        assert max(map(len, lines)) <= width


@pytest.mark.parametrize("name", SAMPLES)
def test_a_terminal_without_unicode_gets_ascii(name):
    assert show(terminal.render(SAMPLES[name]), encoding="ascii").isascii()


def test_a_failure_with_everything_too_long_still_fits_on_a_screen():
    many = tuple(Finding(facet="value", subject=f"output {n}", message="differs " * 30) for n in range(30))
    long = {
        "findings": many,
        "printed": ("word " * 50,) * 20,
        "traceback": ("line 3, in f",) * 60,
        "remarks": ("a remark",),
    }
    cases = tuple(case("tiny_inputs", "wrong answer", **long) for _ in range(30))
    lines = show(
        terminal.render(report("wrong answer", cases, remarks=tuple(f"remark {n}" for n in range(20))))
    ).splitlines()
    assert len(lines) < 40
    assert any("judge hint layer-norm" in line for line in lines)


def test_the_last_twenty_printed_lines_of_the_failing_case_are_shown():
    lines = tuple(f"line {n}" for n in range(20))
    shown = show(terminal.render(failing(printed=lines)))
    assert all(f"│ {line}\n" in shown for line in lines)


def test_what_a_submission_wrote_is_never_read_as_an_escape_or_as_markup():
    evil = "\x1b]0;title\x07\x1b[2J\x9b31m[red]no[/red]\x00\u202e:smile:"
    finding = Finding(facet="error", subject=f"output{evil}", message=evil)
    fields = {
        "message": evil,
        "file": f"{evil}.py",
        "printed": (evil,),
        "line_text": evil,
        "remarks": (evil,),
        "line": 1,
    }
    broken = case("plain", "runtime error", findings=(finding,), printed=(evil,), traceback=(evil,), inputs=evil)
    for verdict in ("runtime error", "invalid submission", "judge error"):
        for verbose in (False, True):
            shown = show(terminal.render(report(verdict, (broken,), **fields), verbose=verbose))
            assert all(character.isprintable() or character == "\n" for character in shown)
            assert "[red]no[/red]:smile:" in shown


def test_colour_is_there_for_a_terminal_only():
    sample = SAMPLES["wrong_answer_with_diagnosis"]
    assert "\x1b[" in show(terminal.render(sample), colour=True)
    assert "\x1b[" not in show(terminal.render(sample))


def test_the_root_cause_is_a_case_that_explains_the_verdict():
    slow = Finding(facet="time", subject="f", message="gave no answer within 5 s")
    cases = (case("plain", "wrong answer", findings=(FINDING,)), case("tiny_inputs", "time limit", findings=(slow,)))
    shown = show(terminal.render(report("time limit", cases)))
    assert shown.index("tiny_inputs (time limit)") < shown.index("plain: ")
    assert "--case tiny_inputs" in shown


@pytest.mark.parametrize(
    ("file", "argument"),
    [
        ("submissions/layer-norm.py", ""),
        ("../submissions/layer_norm.py", ""),
        ("layer-norm.py", " layer-norm.py"),
        ("my files/a.py", " 'my files/a.py'"),
    ],
)
def test_the_replay_names_the_file_unless_it_is_the_usual_one(file, argument):
    sample = failing().model_copy(update={"file": file})
    shown = show(terminal.render(sample), width=200)
    assert f"judge submit layer-norm{argument} --seed 2894731 --case tiny_inputs" in shown


@pytest.mark.parametrize("width", [20, 60, 80])
def test_a_command_is_one_line_however_narrow_the_screen_is(width):
    lines = show(terminal.render(SAMPLES["wrong_answer_with_diagnosis"]), width=width).splitlines()
    assert "      judge submit layer-norm 'my answers/layer norm.py' --seed 2894731 --case tiny_inputs" in lines
    assert any(line.startswith("next: judge hint layer-norm") for line in lines)


def test_a_command_that_takes_two_lines_of_the_screen_is_counted_as_two():
    for others in range(0, 12, 4):
        for printed in range(1, 20):
            root = case("plain", "wrong answer", findings=(FINDING,) * 4, printed=("a",) * printed)
            cases = (root, *(case("tiny_inputs", "wrong answer") for _ in range(others)))
            lines = show(terminal.render(report("wrong answer", cases, file="x" * 150))).splitlines()
            assert sum(1 + max(0, len(line) - 1) // 80 for line in lines) <= terminal.SCREEN


def test_options_that_were_given_stay_in_the_command_that_is_the_same():
    shown = {
        name: show(terminal.render(SAMPLES[name], following="rms-norm", options="--feedback hint"), width=200)
        for name in ("invalid_submission", "time_limit", "accepted_with_stream")
    }
    assert "judge submit layer-norm --feedback hint   when it is mended" in shown["invalid_submission"]
    assert "judge submit layer-norm --feedback hint --seed 2894731 --case tiny_inputs" in shown["time_limit"]
    assert "judge hint layer-norm   one" in shown["time_limit"]
    assert "--feedback" not in shown["accepted_with_stream"]


def test_a_single_case_is_one_case_and_a_single_point_one_point():
    shown = show(terminal.render(report("accepted", (case("plain"),), points=1, max_points=1)))
    assert "1 of 1 case passed\n" in shown
    assert "  1/1 point  " in shown


def test_a_closed_function_stands_against_the_cases_that_passed():
    used = {"closed": ({"name": "torch.layer_norm", "line": 3},)}
    for status, words in (
        ("passed", "1 of 1 case passed, but a closed function was used\n"),
        ("wrong answer", "0 of 1 case passed, 1 failed, and a closed function was used\n"),
    ):
        assert words in show(terminal.render(report("closed function used", (case("plain", status),), **used)))


def test_a_practice_run_never_says_accepted():
    shown = show(terminal.render(report("passed these cases", (case("plain"),), practice=True, points=0)))
    assert "passed these cases" in shown
    assert "practice" in shown
    assert "accepted" not in shown
    assert "points" not in shown


def test_a_judge_error_says_that_it_is_not_the_students_fault():
    shown = show(terminal.render(report("judge error", message="the process that imports torch has ended")))
    assert "not of your file" in shown
    assert "judge doctor" in shown


def test_what_was_printed_at_import_is_shown_where_the_import_failed():
    shown = show(terminal.render(report("runtime error", message="ValueError: 3", line=4, printed=("hello",))))
    assert "line 4: ValueError: 3" in shown
    assert "│ hello" in shown


def test_weaker_resemblance_is_said_more_carefully():
    sample = SAMPLES["wrong_answer_with_diagnosis"]
    assert sample.diagnosis is not None
    weak = sample.model_copy(update={"diagnosis": sample.diagnosis.model_copy(update={"strength": "same cases"})})
    assert "fails the same cases as one that adds eps" in show(terminal.render(weak))
    assert "belongs under the root" not in show(terminal.render(weak, verbose=True))


@pytest.mark.parametrize(("column", "place"), [(1, "é"), (5, "é"), (6, "字"), (7, "x"), (8, " ")])
def test_the_caret_stands_under_its_column(column, place):
    sample = report("invalid submission", message="wrong", line=1, column=column, line_text="    é字x = 1")
    text, caret = [line for line in show(terminal.render(sample)).splitlines() if line.startswith("      ")][:2]
    cells = "".join(character * (2 if character == "字" else 1) for character in text)
    assert cells[caret.index("^")] == place


def test_the_caret_is_seen_in_a_long_line():
    sample = report("invalid submission", message="wrong", line=1, column=501, line_text="a" * 500 + "?" + "b" * 500)
    text, caret = [line for line in show(terminal.render(sample)).splitlines() if line.startswith("      ")][:2]
    assert text[caret.index("^")] == "?"


def test_a_stream_that_is_missing_or_not_finite_has_no_bar():
    curve = StreamCurve(
        label="a", depths=(0, 1, 2), norms=(1.0, None, float("inf")), reference=(1.0, 2.0, 4.0), sentence="s"
    )
    rows = show(curves.table(curve, ascii_only=True)).splitlines()
    assert [row.split() for row in rows[2:]] == [["0", "1.00", "###", "1.00"], ["1", "-", "2.00"], ["2", "-", "4.00"]]


@pytest.mark.parametrize("norm", [0.0, 1e-300, 0.5, 1.0, 123.4, 1e9, 1e300])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_bar_never_leaves_its_column(norm, ascii_only):
    assert len(curves.bar(norm, 1.0, ascii_only=ascii_only)) <= curves.BAR_WIDTH
    assert len(curves.number(norm)) <= 9


def test_a_stream_beside_a_failure_is_its_sentences_only():
    sample = SAMPLES["accepted_with_stream"].model_copy(update={"verdict": "wrong answer"})
    shown = show(terminal.render(sample))
    assert "grows like depth^0.9" in shown
    assert "reference\n" not in shown


def test_every_case_status_has_a_mark():
    for status in CaseResult.model_fields["status"].annotation.__args__:
        shown = show(terminal.render(report("wrong answer", (case("plain", status),)), verbose=True))
        assert "plain" in shown
